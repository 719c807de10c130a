import Foundation
import FoundationNetworking
import Testing

@testable import TransferNetworking

@Suite("Headers")
struct HTTPHeadersTests {
    @Test func anArrayKeepsItsOrderAndTheLastOfANameWinsInTheFirstsPlace() {
        let headers = HTTPHeaders([
            HTTPHeader(name: "b", value: "1"), HTTPHeader(name: "A", value: "2"), HTTPHeader(name: "B", value: "3"),
        ])
        #expect(headers.map(\.name) == ["B", "A"])
        #expect(headers.map(\.value) == ["3", "2"])
    }

    @Test func aDictionaryIsSortedAsItHasNoOrder() {
        let headers = HTTPHeaders(["c": "3", "a": "1", "b": "2"] as [String: String])
        #expect(headers.map(\.name) == ["a", "b", "c"])
    }

    @Test func literalsKeepTheirOrder() {
        let dictionary: HTTPHeaders = ["z": "1", "a": "2", "Z": "3"]
        #expect(dictionary.map(\.description) == ["Z: 3", "a: 2"])
        let array: HTTPHeaders = [.contentType("x/y"), .accept("a/b")]
        #expect(array.map(\.name) == ["Content-Type", "Accept"])
    }

    @Test(arguments: ["content-type", "CONTENT-TYPE", "Content-Type", "cOnTeNt-TyPe"])
    func namesAreFoundWithoutRegardToCase(name: String) {
        var headers: HTTPHeaders = [.contentType("a/b"), .accept("c/d")]
        #expect(headers[name] == "a/b")
        #expect(headers.value(for: name) == "a/b")
        headers.remove(name: name)
        #expect(headers.map(\.name) == ["Accept"])
    }

    @Test func addingAndUpdatingReplaceInPlace() {
        var headers: HTTPHeaders = ["A": "1", "B": "2"]
        headers.add(name: "a", value: "3")
        headers.add(.accept("x"))
        headers.update(HTTPHeader(name: "b", value: "4"))
        headers.update(name: "C", value: "5")
        #expect(headers.map(\.description) == ["a: 3", "b: 4", "Accept: x", "C: 5"])
    }

    @Test func theSubscriptAddsReplacesAndRemoves() {
        var headers = HTTPHeaders()
        headers["X"] = "1"
        headers["x"] = "2"
        #expect(headers.count == 1 && headers["X"] == "2")
        headers["X"] = nil
        headers["never"] = nil
        #expect(headers.isEmpty && headers["X"] == nil)
    }

    @Test func sortingIgnoresCaseAndTheCopyLeavesTheOriginal() {
        var headers: HTTPHeaders = ["b": "1", "C": "2", "A": "3"]
        #expect(headers.sorted().map(\.name) == ["A", "b", "C"])
        #expect(headers.map(\.name) == ["b", "C", "A"])
        headers.sort()
        #expect(headers.map(\.name) == ["A", "b", "C"])
    }

    @Test func headersAreACollection() {
        let headers: HTTPHeaders = ["a": "1", "b": "2"]
        #expect(headers[headers.startIndex] == HTTPHeader(name: "a", value: "1"))
        #expect(headers.dropFirst().first?.name == "b")
        #expect(headers.dictionary == ["a": "1", "b": "2"])
        #expect(headers.contains(HTTPHeader(name: "b", value: "2")))
        #expect(Set([headers, headers.sorted()]).count == 1)
    }

    @Test(arguments: [
        (HTTPHeader.accept("v"), "Accept: v"), (.acceptCharset("v"), "Accept-Charset: v"),
        (.acceptLanguage("v"), "Accept-Language: v"), (.acceptEncoding("v"), "Accept-Encoding: v"),
        (.contentDisposition("v"), "Content-Disposition: v"), (.contentEncoding("v"), "Content-Encoding: v"),
        (.contentType("v"), "Content-Type: v"), (.userAgent("v"), "User-Agent: v"),
        (.websocketProtocol("v"), "Sec-WebSocket-Protocol: v"),
    ])
    func staticValuesHaveTheirNames(header: HTTPHeader, line: String) {
        #expect(header.description == line)
    }

    @Test func credentialsAreWrittenInTheirSchemes() {
        #expect(HTTPHeader.authorization("Digest x") == HTTPHeader(name: "Authorization", value: "Digest x"))
        #expect(HTTPHeader.authorization(bearerToken: "t").value == "Bearer t")
        #expect(HTTPHeader.authorization(username: "ü", password: "").value == "Basic w7w6")
    }

    @Test func aURLRequestsHeadersAreReadAndReplaced() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.example")))
        request.setValue("1", forHTTPHeaderField: "Old")
        #expect(request.headers["old"] == "1")
        request.headers = ["New": "2"]
        #expect(request.allHTTPHeaderFields == ["New": "2"])
        request.headers["Third"] = "3"
        #expect(request.value(forHTTPHeaderField: "third") == "3")
    }

    @Test func aResponsesHeadersAreReadSorted() throws {
        let url = try #require(URL(string: "http://a.example"))
        let response = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil, headerFields: ["X-B": "2", "etag": "\"1\"", "x-a": "1"]))
        #expect(response.headers["ETag"] == "\"1\"")
        #expect(response.headers.map(\.value) == ["\"1\"", "1", "2"])
    }

    @Test func aConfigurationsHeadersAreReadAndReplaced() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Number": 5, "X-Text": "t"]
        #expect(configuration.headers == ["X-Number": "5", "X-Text": "t"])
        configuration.headers["X-Text"] = nil
        configuration.headers.add(.accept("a/b"))
        #expect(configuration.httpAdditionalHeaders as? [String: String] == ["X-Number": "5", "Accept": "a/b"])
    }
}
