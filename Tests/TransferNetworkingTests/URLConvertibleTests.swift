import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("URLs, methods and requests from values")
struct URLConvertibleTests {
    struct Broken: URLRequestConvertible {
        func asURLRequest() throws -> URLRequest { throw TestFailure() }
    }

    @Test func textURLsAndComponentsGiveTheSameURL() throws {
        let text = "http://a.example/x?q=1#f"
        let url = try #require(URL(string: text))
        let components = try #require(URLComponents(string: text))
        let values: [any URLConvertible] = [text, url, components]
        for value in values {
            let made = try value.asURL()
            #expect(made.absoluteString == text)
        }
    }

    @Test(arguments: ["", "http://[broken", "http://a b/"])
    func textThatIsNoURLIsRefusedAndKept(text: String) {
        let error = #expect(throws: AFError.self) { try text.asURL() }
        #expect(error?.isInvalidURLError == true)
        #expect(error?.urlConvertible as? String == text)
    }

    @Test func componentsThatMakeNoURLAreRefused() {
        var components = URLComponents()
        components.host = "a.example"
        components.path = "no-slash"
        let error = #expect(throws: AFError.self) { try components.asURL() }
        #expect(error?.urlConvertible as? URLComponents == components)
    }

    @Test(arguments: [
        (HTTPMethod.connect, "CONNECT"), (.delete, "DELETE"), (.get, "GET"), (.head, "HEAD"), (.options, "OPTIONS"),
        (.patch, "PATCH"), (.post, "POST"), (.put, "PUT"), (.query, "QUERY"), (.trace, "TRACE"),
        (HTTPMethod(rawValue: "custom"), "custom"),
    ])
    func methodsHaveTheirNames(method: HTTPMethod, name: String) throws {
        var request = try URLRequest(url: "http://a.example", method: method)
        #expect(request.httpMethod == name)
        #expect(request.method == method)
        request.method = .get
        #expect(request.httpMethod == "GET")
    }

    @Test func methodsAreCaseSensitive() {
        #expect(HTTPMethod(rawValue: "get") != .get)
    }

    @Test func aRequestIsMadeOfItsParts() throws {
        let request = try URLRequest(
            url: "http://a.example/x", method: .put, headers: [.accept("a/b"), .userAgent("u")])
        #expect(request.url?.absoluteString == "http://a.example/x")
        #expect(request.allHTTPHeaderFields == ["Accept": "a/b", "User-Agent": "u"])
        #expect(throws: AFError.self) { try URLRequest(url: "", method: .get) }
    }

    @Test func aConvertibleGivesItsRequestOrNothing() throws {
        let request = try URLRequest(url: "http://a.example/x", method: .get)
        #expect(request.urlRequest == request)
        #expect(Broken().urlRequest == nil)
    }

    @Test func aGETWithABodyIsRefused() throws {
        var request = try URLRequest(url: "http://a.example", method: .get)
        try request.validate()
        request.httpBody = Data("b".utf8)
        let error = #expect(throws: AFError.self) { try request.validate() }
        guard case .urlRequestValidationFailed(.bodyDataInGETRequest(let data)) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(data == Data("b".utf8))
    }

    @Test(arguments: [HTTPMethod.post, .put, .delete, .query])
    func otherMethodsMayHaveABody(method: HTTPMethod) throws {
        var request = try URLRequest(url: "http://a.example", method: method)
        request.httpBody = Data("b".utf8)
        #expect(throws: Never.self) { try request.validate() }
    }

    @Test func anErrorOfAConvertibleReachesTheResponse() async {
        let error = await makeSession().request(Broken()).serializingData().response.error
        #expect(error?.isCreateURLRequestError == true)
        #expect(error?.underlyingError as? TestFailure == TestFailure())
    }
}
