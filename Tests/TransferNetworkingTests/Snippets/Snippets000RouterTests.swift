import Foundation
import FoundationNetworking
import FoundationXML
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 000, *Advanced Usage*: routers and serializers of one's own. The numbers are its lines.
@Suite("Snippets of document 000: routers and serializers", .timeLimit(.minutes(1)))
struct Snippets000RouterTests {
    // MARK: Routers

    // 599
    @Test func stringsURLsAndComponentsAreURLs() async throws {
        try await withHTTPBin { server async throws in
            let urlString = server.url("/post")
            let first = try await AF.request(urlString, method: .post).echo

            let url = URL(string: urlString)!
            let second = try await AF.request(url, method: .post).echo

            let urlComponents = URLComponents(url: url, resolvingAgainstBaseURL: true)!
            let third = try await AF.request(urlComponents, method: .post).echo
            #expect([first, second, third].map(\.url) == [urlString, urlString, urlString])
        }
    }

    // 614, 625
    @Test func aTypeOfOnesOwnIsAURL() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "http://example.com/users/mattt/") { _ in Response(body: .text("mattt")) }
            let user = User(username: "mattt")
            let text = try await makeSession(through: server).request(user).serializingString().value
            #expect(text == "mattt")
        }
    }

    // 633
    @Test func aURLRequestCarriesABodyOfItsOwn() async throws {
        try await withHTTPBin { server async throws in
            let url = URL(string: server.url("/post"))!
            var urlRequest = URLRequest(url: url)
            urlRequest.httpMethod = "POST"

            let parameters = ["foo": "bar"]

            do {
                urlRequest.httpBody = try JSONSerialization.data(withJSONObject: parameters, options: [])
            } catch {
                // No-op
            }

            urlRequest.setValue("application/json", forHTTPHeaderField: "Content-Type")

            let echo = try await AF.request(urlRequest).echo
            #expect(echo.data == #"{"foo":"bar"}"#)
            #expect(echo.headers?["Content-Type"] == "application/json")
        }
    }

    // 655, 682
    @Test func aRouterPutsItsParametersIntoTheQuery() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "http://example.com/search") { Response(body: .text($0.query ?? "")) }
            let session = makeSession(through: server)
            let first = try await session.request(SearchRouter.search(query: "foo bar", page: 1)).serializingString()
                .value
            #expect(first == "offset=50&q=foo%20bar")
            let zeroth = try await session.request(SearchRouter.search(query: "foo bar", page: 0)).serializingString()
                .value
            #expect(zeroth == "q=foo%20bar")
        }
    }

    // 688, 747
    @Test func aRouterHasAMethodAndAPathForEachOperation() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "http://example.com/users*") { request in
                Response(
                    body: .text("\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))"))
            }
            let session = makeSession(through: server)
            let routes: [UserRouter] = [
                .createUser(parameters: ["name": "Mattt"]), .readUser(username: "mattt"),
                .updateUser(username: "mattt", parameters: ["name": "M"]), .destroyUser(username: "mattt"),
            ]
            var answers: [String] = []
            for route in routes { answers.append(try await session.request(route).serializingString().value) }
            #expect(
                answers == [
                    "POST /users name=Mattt", "GET /users/mattt ", "PUT /users/mattt name=M", "DELETE /users/mattt ",
                ])
        }
    }

    // MARK: Serializers of one's own

    // 853, 869; Foundation's parser in the place of the one there, and the serializer in its current form.
    @Test func aSerializerOfOnesOwnReadsXML() async throws {
        try await withHTTPBin { server async throws in
            let titles = await handed { done in
                AF.request(server.url("/xml")).responseXMLDocument { response in
                    done(response.value?.titles)
                }
            }
            #expect(titles == ["First slide", "Second slide"])

            let broken = await handed { done in
                AF.request(server.url("/json")).responseXMLDocument { response in
                    done(response.error)
                }
            }
            guard case .xmlSerialization = broken?.underlyingError as? BackendError else {
                Issue.record("\(String(describing: broken))")
                return
            }

            let empty = await handed { done in
                AF.request(server.url("/bytes/0")).responseXMLDocument { response in
                    done(response.error)
                }
            }
            guard case .dataSerialization = empty?.underlyingError as? BackendError else {
                Issue.record("\(String(describing: empty))")
                return
            }
        }
    }
}

// MARK: - The types of the snippets

private struct User: URLConvertible {
    static let baseURLString = "http://example.com"

    let username: String

    func asURL() throws -> URL {
        let urlString = User.baseURLString + "/users/\(username)/"
        return try urlString.asURL()
    }
}

private enum SearchRouter: URLRequestConvertible {
    case search(query: String, page: Int)

    static let baseURLString = "http://example.com"
    static let perPage = 50

    // MARK: URLRequestConvertible

    func asURLRequest() throws -> URLRequest {
        let result: (path: String, parameters: Parameters) = {
            switch self {
            case .search(let query, let page) where page > 0:
                return ("/search", ["q": query, "offset": SearchRouter.perPage * page])
            case .search(let query, _):
                return ("/search", ["q": query])
            }
        }()

        let url = try SearchRouter.baseURLString.asURL()
        let urlRequest = URLRequest(url: url.appendingPathComponent(result.path))

        return try URLEncoding.default.encode(urlRequest, with: result.parameters)
    }
}

private enum UserRouter: URLRequestConvertible {
    case createUser(parameters: Parameters)
    case readUser(username: String)
    case updateUser(username: String, parameters: Parameters)
    case destroyUser(username: String)

    static let baseURLString = "http://example.com"

    var method: HTTPMethod {
        switch self {
        case .createUser:
            return .post
        case .readUser:
            return .get
        case .updateUser:
            return .put
        case .destroyUser:
            return .delete
        }
    }

    var path: String {
        switch self {
        case .createUser:
            return "/users"
        case .readUser(let username):
            return "/users/\(username)"
        case .updateUser(let username, _):
            return "/users/\(username)"
        case .destroyUser(let username):
            return "/users/\(username)"
        }
    }

    // MARK: URLRequestConvertible

    func asURLRequest() throws -> URLRequest {
        let url = try UserRouter.baseURLString.asURL()

        var urlRequest = URLRequest(url: url.appendingPathComponent(path))
        urlRequest.httpMethod = method.rawValue

        switch self {
        case .createUser(let parameters):
            urlRequest = try URLEncoding.default.encode(urlRequest, with: parameters)
        case .updateUser(_, let parameters):
            urlRequest = try URLEncoding.default.encode(urlRequest, with: parameters)
        default:
            break
        }

        return urlRequest
    }
}

private enum BackendError: Error {
    case network(error: any Error)  // Capture any underlying Error from the URLSession API
    case dataSerialization(error: any Error)
    case jsonSerialization(error: any Error)
    case xmlSerialization(error: any Error)
    case objectSerialization(reason: String)
}

/// The titles of a slide show.
private struct XMLDocument: Sendable {
    let titles: [String]

    init(data: Data) throws {
        final class Reader: NSObject, XMLParserDelegate {
            var titles: [String] = []
            var isTitle = false

            func parser(
                _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
                qualifiedName qName: String?, attributes attributeDict: [String: String]
            ) {
                isTitle = elementName == "title"
                if isTitle { titles.append("") }
            }

            func parser(
                _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
                qualifiedName qName: String?
            ) { isTitle = false }

            func parser(_ parser: XMLParser, foundCharacters string: String) {
                if isTitle { titles[titles.count - 1] += string }
            }
        }

        let reader = Reader()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        guard parser.parse() else { throw BackendError.objectSerialization(reason: "not XML") }
        titles = reader.titles
    }
}

private struct XMLResponseSerializer: ResponseSerializer {
    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws
        -> XMLDocument
    {
        // Pass through any underlying URLSession error to the .network case.
        guard error == nil else { throw BackendError.network(error: error!) }

        let validData: Data
        do {
            // The existing serializer extracts the data; the error has already been handled.
            validData = try DataResponseSerializer().serialize(
                request: request, response: response, data: data, error: nil)
        } catch {
            throw BackendError.dataSerialization(error: error)
        }

        do {
            return try XMLDocument(data: validData)
        } catch {
            throw BackendError.xmlSerialization(error: error)
        }
    }
}

extension DataRequest {
    @discardableResult
    fileprivate func responseXMLDocument(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<XMLDocument>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: XMLResponseSerializer(), completionHandler: completionHandler)
    }
}
