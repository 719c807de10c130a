import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 002, *Using Alamofire*: parameters and their encoders. The numbers are its lines.
@Suite("Snippets of document 002: parameters", .timeLimit(.minutes(1)))
struct Snippets002ParameterTests {
    // 93, 111
    @Test func anEncodableValueIsPostedAsJSON() async throws {
        struct Login: Encodable {
            let email: String
            let password: String
        }

        try await withHTTPBin { server async throws in
            let login = Login(email: "test@test.test", password: "testPassword")

            let response = await handed { done in
                AF.request(
                    server.url("/post"),
                    method: .post,
                    parameters: login,
                    encoder: JSONParameterEncoder.default
                ).response { (response) in
                    done(response)
                }
            }
            let echo = try Echo(response.data)
            let sent = try JSONDecoder().decode([String: String].self, from: Data(#require(echo.data).utf8))
            #expect(sent == ["email": "test@test.test", "password": "testPassword"])
            #expect(echo.headers?["Content-Type"] == "application/json")
        }
    }

    // 141
    @Test func theThreeFormsOfAGETWithParametersAreTheSame() async throws {
        try await withHTTPBin { server async throws in
            let parameters = ["foo": "bar"]

            let requests = [
                AF.request(server.url("/get"), parameters: parameters),
                AF.request(
                    server.url("/get"), parameters: parameters, encoder: URLEncodedFormParameterEncoder.default),
                AF.request(
                    server.url("/get"), parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder(destination: .methodDependent)),
            ]
            for request in requests {
                let echo = try await request.echo
                #expect(echo.url == server.url("/get?foo=bar"))
                #expect(echo.args == ["foo": "bar"])
            }
        }
    }

    // 153
    @Test func theThreeFormsOfAPOSTWithParametersAreTheSame() async throws {
        try await withHTTPBin { server async throws in
            let parameters: [String: [String]] = [
                "foo": ["bar"],
                "baz": ["a", "b"],
                "qux": ["x", "y", "z"],
            ]

            let requests = [
                AF.request(server.url("/post"), method: .post, parameters: parameters),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder.default),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder(destination: .httpBody)),
            ]
            for request in requests {
                let echo = try await request.echo
                #expect(echo.url == server.url("/post"))
                #expect(echo.form == ["foo[]": "bar", "baz[]": ["a", "b"], "qux[]": ["x", "y", "z"]])
                #expect(echo.headers?["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
            }
        }
    }

    /// Returns the server's view of a value that was posted with an encoder.
    private func posted(_ value: some Encodable & Sendable, with encoder: URLEncodedFormParameterEncoder) async throws
        -> [String: Echo.Field]?
    {
        let sent = Calls<[String: Echo.Field]?>()
        try await withHTTPBin { server async throws in
            sent.add(
                try await AF.request(server.url("/post"), method: .post, parameters: value, encoder: encoder).echo.form)
        }
        return sent.all[0]
    }

    // 181
    @Test func arraysGoWithoutBracketsWhenAsked() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
        let form = try await posted(["foo": [1, 2]], with: encoder)
        #expect(form == ["foo": ["1", "2"]])
    }

    // 196
    @Test func boolsAreNumbersOrWords() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(boolEncoding: .numeric))
        let form = try await posted(["yes": true, "no": false], with: encoder)
        #expect(form == ["yes": "1", "no": "0"])
        let literal = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(boolEncoding: .literal))
        let words = try await posted(["yes": true, "no": false], with: literal)
        #expect(words == ["yes": "true", "no": "false"])
    }

    // 210
    @Test func dataIsBase64() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(dataEncoding: .base64))
        let form = try await posted(["data": Data([0xFF, 0xFE, 0x3F])], with: encoder)
        #expect(form == ["data": "//4/"])
    }

    // 227
    @Test func datesAreISO8601() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(dateEncoding: .iso8601))
        let form = try await posted(["date": Date(timeIntervalSince1970: 123)], with: encoder)
        #expect(form == ["date": "1970-01-01T00:02:03Z"])
    }

    // 244
    @Test func keysAreSnakeCase() async throws {
        struct Counts: Encodable {
            let oneTwoThree: Int
        }

        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase))
        let form = try await posted(Counts(oneTwoThree: 4), with: encoder)
        #expect(form == ["one_two_three": "4"])
    }

    // 257
    @Test func spacesArePluses() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(spaceEncoding: .plusReplaced))
        var request = URLRequest(url: try #require(URL(string: "https://httpbin.org/post")))
        request.method = .post
        let encoded = try encoder.encode(["a b": "c d"], into: request)
        #expect(encoded.httpBody == Data("a+b=c+d".utf8))
        let form = try await posted(["a b": "c d"], with: encoder)
        #expect(form == ["a b": "c d"])
    }

    // 267
    @Test func theThreeJSONEncodersSendTheSameValue() async throws {
        try await withHTTPBin { server async throws in
            let parameters: [String: [String]] = [
                "foo": ["bar"],
                "baz": ["a", "b"],
                "qux": ["x", "y", "z"],
            ]

            let requests = [
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters, encoder: JSONParameterEncoder.default),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.prettyPrinted),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.sortedKeys),
            ]
            var bodies: [String] = []
            for request in requests {
                let body = try #require(try await request.echo.data)
                let sent = try JSONDecoder().decode([String: [String]].self, from: Data(body.utf8))
                #expect(sent == parameters)
                bodies.append(body)
            }
            #expect(bodies[1].contains("\n"))
            #expect(bodies[2] == #"{"baz":["a","b"],"foo":["bar"],"qux":["x","y","z"]}"#)
        }
    }

    // 285
    @Test func aJSONEncoderOfOnesOwnIsUsed() async throws {
        struct Event: Encodable {
            let startDate: Date
        }

        try await withHTTPBin { server async throws in
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let parameterEncoder = JSONParameterEncoder(encoder: encoder)

            let event = Event(startDate: Date(timeIntervalSince1970: 0))
            let echo = try await AF.request(
                server.url("/post"), method: .post, parameters: event, encoder: parameterEncoder
            ).echo
            #expect(echo.data == #"{"start_date":"1970-01-01T00:00:00Z"}"#)
        }
    }

    // 296
    @Test func aURLRequestCanBeEncodedByHand() async throws {
        try await withHTTPBin { server async throws in
            let url = try #require(URL(string: server.url("/get")))
            let urlRequest = URLRequest(url: url)

            let parameters = ["foo": "bar"]
            let encodedURLRequest = try URLEncodedFormParameterEncoder.default.encode(parameters, into: urlRequest)

            let echo = try await AF.request(encodedURLRequest).echo
            #expect(echo.args == ["foo": "bar"])
        }
    }
}
