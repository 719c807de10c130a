import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Parameter encoders")
struct ParameterEncoderTests {
    struct Login: Codable, Sendable, Equatable {
        var email = "test@test.test"
        var password = "p w"
    }

    static let formType = "application/x-www-form-urlencoded; charset=utf-8"

    private func request(_ method: HTTPMethod = .get, _ url: String = "http://a.example/x") throws -> URLRequest {
        try URLRequest(url: url, method: method)
    }

    private func body(_ request: URLRequest) -> String? { request.httpBody.map { String(decoding: $0, as: UTF8.self) } }

    @Test(arguments: [HTTPMethod.get, .head, .delete])
    func methodsWithoutABodyGetAQuery(method: HTTPMethod) throws {
        let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": "1 2"], into: request(method))
        #expect(encoded.url?.absoluteString == "http://a.example/x?a=1%202")
        #expect(encoded.httpBody == nil)
        #expect(encoded.headers["Content-Type"] == nil)
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .options, .query, HTTPMethod(rawValue: "REPORT")])
    func otherMethodsGetABodyAndItsType(method: HTTPMethod) throws {
        let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": "1 2"], into: request(method))
        #expect(encoded.url?.query == nil)
        #expect(body(encoded) == "a=1%202")
        #expect(encoded.headers["Content-Type"] == Self.formType)
    }

    @Test func theDestinationCanBeFixed() throws {
        let query = URLEncodedFormParameterEncoder(destination: .queryString)
        let posted = try query.encode(["a": "1"], into: request(.post))
        #expect(posted.url?.query == "a=1" && posted.httpBody == nil)
        let inBody = URLEncodedFormParameterEncoder(destination: .httpBody)
        let got = try inBody.encode(["a": "1"], into: request(.get))
        #expect(got.url?.query == nil && body(got) == "a=1")
    }

    @Test(arguments: [
        ("http://h/x?y=1", "http://h/x?y=1&a=%26"), ("http://h/x?", "http://h/x?a=%26"),
        ("http://h/x?y=%2B+z&", "http://h/x?y=%2B+z&a=%26"), ("http://h/x?y#f?g", "http://h/x?y&a=%26#f?g"),
        ("http://h/x#f", "http://h/x?a=%26#f"), ("http://u:p@h:8080", "http://u:p@h:8080?a=%26"),
    ])
    func theQueryThatIsThereStaysAndIsAppendedTo(url: String, expected: String) throws {
        let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": "&"], into: request(.get, url))
        #expect(encoded.url?.absoluteString == expected)
    }

    @Test func aURLRelativeToABaseKeepsItsBase() throws {
        let url = try #require(URL(string: "x?y=1", relativeTo: URL(string: "http://h/folder/")))
        let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": "1"], into: URLRequest(url: url))
        #expect(encoded.url?.absoluteString == "http://h/folder/x?y=1&a=1")
    }

    @Test func nothingIsChangedForNoParametersAndNoQueryIsMadeForEmptyOnes() throws {
        let none: [String: String]? = nil
        for encoder: any ParameterEncoder in [.urlEncodedForm, .json] {
            let original = try request(.post)
            let encoded = try encoder.encode(none, into: original)
            #expect(encoded == original)
            #expect(encoded.httpBody == nil && encoded.headers.isEmpty)
        }
        let empty = try URLEncodedFormParameterEncoder.default.encode([String: String](), into: request(.get))
        #expect(empty.url?.absoluteString == "http://a.example/x")
    }

    @Test func aTypeThatIsSetStays() throws {
        var original = try request(.post)
        original.headers.add(.contentType("application/vnd.x"))
        let asForm = try URLEncodedFormParameterEncoder.default.encode(["a": "1"], into: original)
        #expect(asForm.headers["Content-Type"] == "application/vnd.x")
        let asJSON = try JSONParameterEncoder.default.encode(["a": "1"], into: original)
        #expect(asJSON.headers["Content-Type"] == "application/vnd.x")
    }

    @Test func theFormEncodersOptionsAreUsed() throws {
        let encoder: URLEncodedFormParameterEncoder = .urlEncodedForm(
            encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets), destination: .queryString)
        let encoded = try encoder.encode(["a": [1, 2]], into: request(.post))
        #expect(encoded.url?.query == "a=1&a=2")
    }

    @Test func parametersWithoutNamesAreAnEncodersError() throws {
        let error = #expect(throws: AFError.self) {
            try URLEncodedFormParameterEncoder.default.encode([1, 2], into: request())
        }
        #expect(error?.isParameterEncoderError == true)
        #expect(error?.underlyingError is URLEncodedFormEncoder.Error)
    }

    @Test func aRequestWithoutAURLIsAMissingComponent() throws {
        var original = try request()
        original.url = nil
        let error = #expect(throws: AFError.self) {
            try URLEncodedFormParameterEncoder.default.encode(["a": "1"], into: original)
        }
        guard case .parameterEncoderFailed(.missingRequiredComponent(.url)) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func charactersThatCantStandInAURLAreAnErrorAndNoTrap() throws {
        let careless = URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: "a\"<>"))
        #expect(throws: AFError.self) {
            try URLEncodedFormParameterEncoder(encoder: careless).encode(["a": "<a b>"], into: request())
        }
    }

    @Test func jsonIsABodyWithItsTypeForAnyMethod() throws {
        for method in [HTTPMethod.post, .put, .get] {
            let encoded = try JSONParameterEncoder.default.encode(Login(), into: request(method))
            let data = try #require(encoded.httpBody)
            #expect(try JSONDecoder().decode(Login.self, from: data) == Login())
            #expect(encoded.headers["Content-Type"] == "application/json")
        }
    }

    @Test func jsonCanBeSortedAndPretty() throws {
        let sorted = try JSONParameterEncoder.sortedKeys.encode(["b": ["2"], "a": ["1"]], into: request(.post))
        #expect(body(sorted) == #"{"a":["1"],"b":["2"]}"#)
        let pretty = try JSONParameterEncoder.prettyPrinted.encode(["a": "1"], into: request(.post))
        #expect(body(pretty) == "{\n  \"a\" : \"1\"\n}")
    }

    @Test func aJSONEncoderOfOnesOwnIsUsed() throws {
        struct Event: Encodable, Sendable { var startsAt = Date(timeIntervalSince1970: 0) }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let encoded = try JSONParameterEncoder.json(encoder: encoder).encode(Event(), into: request(.post))
        #expect(body(encoded) == #"{"starts_at":"1970-01-01T00:00:00Z"}"#)
    }

    @Test func aValueOutsideJSONIsAnEncodingError() throws {
        let error = #expect(throws: AFError.self) {
            try JSONParameterEncoder.default.encode(["a": Double.infinity], into: request(.post))
        }
        #expect(error?.isParameterEncodingError == true)
        #expect(error?.underlyingError is EncodingError)
    }

    @Test func encodersCanBeSubclassedAndWritten() throws {
        final class Signing: JSONParameterEncoder, @unchecked Sendable {  // This class has no mutable state.
            override func encode<Parameters: Encodable>(
                _ parameters: Parameters?, into request: URLRequest
            ) throws -> URLRequest {
                var request = try super.encode(parameters, into: request)
                request.headers.add(name: "X-Length", value: "\(request.httpBody?.count ?? 0)")
                return request
            }
        }
        struct Fixed: ParameterEncoder {
            func encode<Parameters: Encodable & Sendable>(
                _ parameters: Parameters?, into request: URLRequest
            ) throws -> URLRequest {
                var request = request
                request.httpBody = Data("\(Parameters.self)".utf8)
                return request
            }
        }
        let encoders: [any ParameterEncoder] = [Signing(), Fixed()]
        let encoded = try encoders.map { try $0.encode(["a": 1], into: request(.post)) }
        #expect(encoded[0].headers["X-Length"] == "7")
        #expect(body(encoded[1]) == "Dictionary<String, Int>")
    }

    @Test func aFormArrivesAsItWasEncoded() async throws {
        try await withTestServer { server async throws in
            server.handle("POST", "/form") { Response(body: .bytes($0.body)) }
            let parameters = ["foo": ["bar"], "baz": ["a", "b"], "qux": ["x", "y", "ü&"]]
            let encoded = try URLEncodedFormParameterEncoder.default.encode(
                parameters, into: URLRequest(url: server.url("/form?kept=1"), method: .post))
            let answer = try await makeSession().request(encoded).serializingString().value
            #expect(answer == "baz%5B%5D=a&baz%5B%5D=b&foo%5B%5D=bar&qux%5B%5D=x&qux%5B%5D=y&qux%5B%5D=%C3%BC%26")
            let sent = try #require(server.requests.first)
            #expect(sent.target == "/form?kept=1")
            #expect(sent.headers.all("Content-Type") == [Self.formType])
        }
    }

    @Test func aQueryArrivesBehindTheOneThatWasThere() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let encoded = try URLEncodedFormParameterEncoder.default.encode(
                ["q": "a b+c"], into: URLRequest(url: server.url("/x?kept=%2F#f"), method: .get))
            _ = try await makeSession().request(encoded).serializingData().value
            let sent = try #require(server.requests.first)
            #expect(sent.target == "/x?kept=%2F&q=a%20b%2Bc")
            #expect(sent.bodyLength == 0)
        }
    }

    @Test func jsonArrivesWithTheTypeOfTheRequest() async throws {
        try await withTestServer { server async throws in
            server.handle("POST", "/json") { Response(body: .bytes($0.body)) }
            let encoded = try JSONParameterEncoder.default.encode(
                Login(),
                into: URLRequest(
                    url: server.url("/json"), method: .post, headers: [.contentType("application/vnd.login+json")]))
            #expect(try await makeSession().request(encoded).serializingDecodable(Login.self).value == Login())
            #expect(server.requests.first?.headers.all("Content-Type") == ["application/vnd.login+json"])
        }
    }
}
