import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

/// The routers of the documents, with the server's address as their base.
@Suite("Routers")
struct RouterTests {
    struct User: URLConvertible {
        let base: String
        let username: String

        func asURL() throws -> URL { try (base + "/users/\(username)/").asURL() }
    }

    enum Search: URLRequestConvertible {
        case search(query: String, page: Int, base: String)

        static let perPage = 50

        func asURLRequest() throws -> URLRequest {
            let result: (path: String, parameters: Parameters, base: String) = {
                switch self {
                case let .search(query, page, base) where page > 0:
                    return ("/search", ["q": query, "offset": Search.perPage * page], base)
                case let .search(query, _, base):
                    return ("/search", ["q": query], base)
                }
            }()
            let url = try result.base.asURL()
            let urlRequest = URLRequest(url: url.appendingPathComponent(result.path))
            return try URLEncoding.default.encode(urlRequest, with: result.parameters)
        }
    }

    struct Users: URLRequestConvertible {
        enum Route {
            case createUser(parameters: Parameters)
            case readUser(username: String)
            case updateUser(username: String, parameters: Parameters)
            case destroyUser(username: String)
        }

        let base: String
        let route: Route

        var method: HTTPMethod {
            switch route {
            case .createUser: .post
            case .readUser: .get
            case .updateUser: .put
            case .destroyUser: .delete
            }
        }

        var path: String {
            switch route {
            case .createUser: "/users"
            case .readUser(let username), .updateUser(let username, _), .destroyUser(let username): "/users/\(username)"
            }
        }

        func asURLRequest() throws -> URLRequest {
            let url = try base.asURL()
            var urlRequest = URLRequest(url: url.appendingPathComponent(path))
            urlRequest.httpMethod = method.rawValue
            switch route {
            case .createUser(let parameters), .updateUser(_, let parameters):
                urlRequest = try URLEncoding.default.encode(urlRequest, with: parameters)
            default:
                break
            }
            return urlRequest
        }
    }

    enum Encoded: URLRequestConvertible {
        case get([String: String], base: URL)
        case post([String: String], base: URL)

        func asURLRequest() throws -> URLRequest {
            switch self {
            case .get(let parameters, let base):
                var request = URLRequest(url: base.appendingPathComponent("get"))
                request.method = .get
                return try URLEncodedFormParameterEncoder().encode(parameters, into: request)
            case .post(let parameters, let base):
                var request = URLRequest(url: base.appendingPathComponent("post"))
                request.method = .post
                return try JSONParameterEncoder().encode(parameters, into: request)
            }
        }
    }

    /// Serves answers with the request line, the type and the body.
    private func echo(_ server: TestServer, _ paths: String...) {
        for path in paths {
            server.handle(nil, path) { request in
                let type = request.headers["Content-Type"] ?? "-"
                return Response(body: .bytes(Array("\(request.method) \(request.target) \(type) ".utf8) + request.body))
            }
        }
    }

    @Test func aTypeOfTheProgramNamesItsResource() async throws {
        try await withTestServer { server async throws in
            server.serve("/users/mattt/", .text("found"))
            let user = User(base: server.url(""), username: "mattt")
            #expect(try await makeSession().request(user).serializingString().value == "found")
        }
    }

    @Test(arguments: [(1, "/search?offset=50&q=foo%20bar"), (0, "/search?q=foo%20bar")])
    func parametersAreAbstractedToAQuery(page: Int, target: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/search", .text("x"))
            let route = Search.search(query: "foo bar", page: page, base: server.url(""))
            _ = try await makeSession().request(route).serializingData().value
            #expect(server.requests.map(\.target) == [target])
        }
    }

    @Test func createReadUpdateAndDeleteAreRoutes() async throws {
        try await withTestServer { server async throws in
            echo(server, "/users", "/users/mattt")
            let session = makeSession()
            func answer(_ route: Users.Route) async throws -> String {
                try await session.request(Users(base: server.url(""), route: route)).serializingString().value
            }
            let form = "application/x-www-form-urlencoded; charset=utf-8"
            #expect(
                try await answer(.createUser(parameters: ["name": "m", "tags": ["a", "b"]]))
                    == "POST /users \(form) name=m&tags%5B%5D=a&tags%5B%5D=b")
            #expect(try await answer(.readUser(username: "mattt")) == "GET /users/mattt - ")
            #expect(
                try await answer(.updateUser(username: "mattt", parameters: ["admin": true]))
                    == "PUT /users/mattt \(form) admin=1")
            #expect(try await answer(.destroyUser(username: "mattt")) == "DELETE /users/mattt - ")
        }
    }

    @Test func authorizationIsAddedByAnInterceptorAndNotByTheRouter() async throws {
        try await withTestServer { server async throws in
            echo(server, "/users/mattt")
            let adapter = HeaderAdapter("Authorization", "Bearer t")
            let route = Users(base: server.url(""), route: .readUser(username: "mattt"))
            _ = try await makeSession(interceptor: adapter).request(route).serializingData().value
            #expect(server.requests.first?.headers["Authorization"] == "Bearer t")
        }
    }

    @Test func encodersOfEncodableParametersWorkInRouters() async throws {
        try await withTestServer { server async throws in
            echo(server, "/get", "/post")
            let base = try server.url("").asURL()
            let session = makeSession()
            #expect(
                try await session.request(Encoded.get(["a": "1 2"], base: base)).serializingString().value
                    == "GET /get?a=1%202 - ")
            #expect(
                try await session.request(Encoded.post(["a": "1 2"], base: base)).serializingString().value
                    == #"POST /post application/json {"a":"1 2"}"#)
        }
    }
}
