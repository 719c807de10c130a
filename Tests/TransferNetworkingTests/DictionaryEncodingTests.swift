import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Encodings of dictionaries")
struct DictionaryEncodingTests {
    private func request(_ method: HTTPMethod = .get, _ url: String = "http://h/x") throws -> URLRequest {
        try URLRequest(url: url, method: method)
    }

    private func query(_ parameters: Parameters?, _ encoding: URLEncoding = .queryString) throws -> String? {
        let encoded = try encoding.encode(request(), with: parameters)
        return URLComponents(string: encoded.url?.absoluteString ?? "")?.percentEncodedQuery?
            .replacingOccurrences(of: "%5B", with: "[").replacingOccurrences(of: "%5D", with: "]")
    }

    private func body(_ request: URLRequest) -> String? { request.httpBody.map { String(decoding: $0, as: UTF8.self) } }

    @Test func namesAreSortedAndCollectionsWrittenWithBrackets() throws {
        let parameters: Parameters = [
            "z": "last", "a": 1, "list": ["y", "x"], "deep": ["b": ["c": [1, 2]], "a": "1"] as [String: any Sendable],
        ]
        #expect(try query(parameters) == "a=1&deep[a]=1&deep[b][c][]=1&deep[b][c][]=2&list[]=y&list[]=x&z=last")
    }

    @Test(arguments: [
        (URLEncoding.ArrayEncoding.brackets, "a[]=1&a[]=2"), (.noBrackets, "a=1&a=2"),
        (.indexInBrackets, "a[0]=1&a[1]=2"), (.custom { "\($0).\($1)" }, "a.0=1&a.1=2"),
    ])
    func arrays(encoding: URLEncoding.ArrayEncoding, text: String) throws {
        #expect(try query(["a": [1, 2]], URLEncoding(destination: .queryString, arrayEncoding: encoding)) == text)
    }

    @Test func boolsAndTheNumbersOneAndZeroAreDistinguished() throws {
        let parameters: Parameters = [
            "bool": true, "double": 1.0, "int": 1, "int8": Int8(1), "list": [true, false],
            "mixed": [0, false] as [any Sendable],
            "nsbool": NSNumber(value: true), "nsint": NSNumber(value: 1), "nsint8": NSNumber(value: Int8(1)),
            "uint": UInt(0),
        ]
        let literal = URLEncoding(destination: .queryString, boolEncoding: .literal)
        #expect(
            try query(parameters, literal)
                == "bool=true&double=1.0&int=1&int8=1&list[]=true&list[]=false&mixed[]=0&mixed[]=false&nsbool=true&nsint=1"
                + "&nsint8=1&uint=0")
        #expect(
            try query(parameters)
                == "bool=1&double=1.0&int=1&int8=1&list[]=1&list[]=0&mixed[]=0&mixed[]=0&nsbool=1&nsint=1&nsint8=1&uint=0"
        )
    }

    @Test func valuesParsedFromJSONAreDistinguishedToo() throws {
        let json = try JSONSerialization.jsonObject(with: Data(#"{"b":true,"i":1,"l":[false,0]}"#.utf8))
        let pairs = URLEncoding(boolEncoding: .literal).queryComponents(fromKey: "k", value: json)
        #expect(
            pairs.map { "\($0.0)=\($0.1)" } == [
                "k%5Bb%5D=true", "k%5Bi%5D=1", "k%5Bl%5D%5B%5D=false", "k%5Bl%5D%5B%5D=0",
            ])
    }

    @Test func componentsAreEscaped() {
        let pairs = URLEncoding.default.queryComponents(fromKey: "a b", value: "c&d")
        #expect(pairs.count == 1 && pairs[0] == ("a%20b", "c%26d"))
        #expect(URLEncoding.default.queryComponents(fromKey: "a", value: [String]()).isEmpty)
        #expect(
            URLEncoding.default.escape(":#[]@!$&'()*+,;=?/ é~")
                == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/%20%C3%A9~")
    }

    @Test func destinationsFollowTheMethodOrAreFixed() throws {
        for method in [HTTPMethod.get, .head, .delete] {
            let encoded = try URLEncoding.default.encode(request(method), with: ["a": 1])
            #expect(encoded.url?.query == "a=1" && encoded.httpBody == nil)
        }
        let posted = try URLEncoding.default.encode(request(.post), with: ["a": 1])
        #expect(posted.url?.query == nil && body(posted) == "a=1")
        #expect(posted.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
        let inQuery = try URLEncoding.queryString.encode(request(.post), with: ["a": 1])
        #expect(inQuery.url?.query == "a=1" && inQuery.httpBody == nil)
        let inBody = try URLEncoding.httpBody.encode(request(.get), with: ["a": 1])
        #expect(inBody.url?.query == nil && body(inBody) == "a=1")
    }

    @Test func theQueryThatIsThereIsAppendedTo() throws {
        let encoded = try URLEncoding.default.encode(request(.get, "http://h/x?y=%20#f"), with: ["a": "1"])
        #expect(encoded.url?.absoluteString == "http://h/x?y=%20&a=1#f")
    }

    @Test func nothingIsChangedForNoParameters() throws {
        let encodings: [any ParameterEncoding] = [URLEncoding.default, URLEncoding.httpBody, JSONEncoding.default]
        for encoding in encodings {
            let encoded = try encoding.encode(request(.post), with: nil)
            #expect(encoded.url?.absoluteString == "http://h/x" && encoded.httpBody == nil && encoded.headers.isEmpty)
        }
        let empty = try URLEncoding.default.encode(request(.get), with: [:])
        #expect(empty.url?.absoluteString == "http://h/x")
    }

    @Test func aRequestWithoutAURLIsRefused() throws {
        var original = try request()
        original.url = nil
        let error = #expect(throws: AFError.self) { try URLEncoding.default.encode(original, with: ["a": 1]) }
        #expect(error?.isParameterEncodingError == true)
    }

    @Test func anErrorOfTheRequestIsPassedOn() {
        #expect(throws: TestFailure.self) {
            try URLEncoding.default.encode(URLConvertibleTests.Broken(), with: ["a": 1])
        }
        #expect(throws: TestFailure.self) {
            try JSONEncoding.default.encode(URLConvertibleTests.Broken(), with: ["a": 1])
        }
    }

    @Test func jsonHasTheTypesThatWerePutIn() throws {
        let parameters: Parameters = [
            "bool": true, "double": 1.5, "int": 1, "list": ["a", 1, false] as [any Sendable], "null": NSNull(),
            "number": NSNumber(value: false), "object": ["k": ["v"]], "text": "ü",
        ]
        let encoded = try JSONEncoding(options: .sortedKeys).encode(request(.post), with: parameters)
        #expect(
            body(encoded)
                == #"{"bool":true,"double":1.5,"int":1,"list":["a",1,false],"null":null,"number":false,"object":{"k":["v"]},"text":"ü"}"#
        )
        #expect(encoded.headers["Content-Type"] == "application/json")
    }

    @Test func jsonOfAnyRootAndPretty() throws {
        let list = try JSONEncoding.default.encode(request(.post), withJSONObject: ["a", 1, true] as [Any])
        #expect(body(list) == #"["a",1,true]"#)
        let pretty = try JSONEncoding.prettyPrinted.encode(request(.post), with: ["a": 1])
        #expect(body(pretty)?.contains("\n") == true)
        let none = try JSONEncoding.default.encode(request(.post))
        #expect(none.httpBody == nil && none.headers.isEmpty)
    }

    @Test(arguments: [
        ["a": Date()] as Parameters, ["a": Data()] as Parameters, ["a": Double.nan] as Parameters,
        ["a": ["b": Double.infinity]] as Parameters,
    ])
    func aValueWithoutAJSONFormIsRefused(parameters: Parameters) throws {
        let error = #expect(throws: AFError.self) { try JSONEncoding.default.encode(request(.post), with: parameters) }
        #expect(error?.isParameterEncodingError == true)
        #expect(error?.underlyingError is JSONEncoding.Error)
    }

    @Test func aTypeThatIsSetStays() throws {
        var original = try request(.post)
        original.headers.add(.contentType("x/y"))
        for encoding: any ParameterEncoding in [URLEncoding.default, JSONEncoding.default] as [any ParameterEncoding] {
            #expect(try encoding.encode(original, with: ["a": 1]).headers["Content-Type"] == "x/y")
        }
    }

    @Test func aDictionaryArrivesAsAForm() async throws {
        try await withTestServer { server async throws in
            server.handle("PUT", "/form") { Response(body: .bytes($0.body)) }
            let encoded = try URLEncoding.default.encode(
                URLRequest(url: server.url("/form"), method: .put), with: ["a": [1, 2], "b": true])
            #expect(try await makeSession().request(encoded).serializingString().value == "a%5B%5D=1&a%5B%5D=2&b=1")
        }
    }
}
