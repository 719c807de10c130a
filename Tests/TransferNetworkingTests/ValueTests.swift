import Foundation
import FoundationNetworking
import Testing
import TransferCore

@testable import TransferNetworking

@Suite("Values of the request API")
struct ValueTests {
    @Test func headersKeepTheirOrderAndCompareNamesWithoutCase() {
        var headers: HTTPHeaders = ["B": "1", "a": "2"]
        headers.add(name: "c", value: "3")
        headers.update(name: "b", value: "4")
        #expect(headers.map(\.name) == ["b", "a", "c"])
        #expect(headers["A"] == "2")
        headers["C"] = nil
        #expect(headers.count == 2)
        #expect(headers.sorted().map(\.name) == ["a", "b"])
    }

    @Test func theUsualHeadersHaveTheirValues() {
        #expect(HTTPHeader.authorization(bearerToken: "t").value == "Bearer t")
        #expect(
            HTTPHeader.authorization(username: "Aladdin", password: "open sesame").value
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(HTTPHeader.contentType("a/b").name == "Content-Type")
        #expect(HTTPHeader.qualityEncoded(["de", "en", "fr"]) == "de;q=1.0, en;q=0.9, fr;q=0.8")
        #expect(HTTPHeader.defaultUserAgent.value.hasSuffix("TransferKit/\(TransferVersion.current)"))
        #expect(HTTPHeader.defaultUserAgent.value.contains("; build:"))
    }

    @Test func secretsAreNotInDescriptions() {
        let headers: HTTPHeaders = [.authorization(bearerToken: "hidden"), .accept("a/b")]
        #expect(headers.description == "Authorization: ***\nAccept: a/b")
        #expect("\(AFError.invalidURL(url: "http://u:hidden@h/ x"))".contains("hidden") == false)
    }

    @Test func methodsBridgeToURLRequests() throws {
        var request = try URLRequest(url: "http://a.example/", method: .put, headers: ["X-A": "1"])
        #expect(request.httpMethod == "PUT")
        #expect(request.value(forHTTPHeaderField: "x-a") == "1")
        request.method = .patch
        #expect(request.httpMethod == "PATCH")
        #expect(HTTPMethod(rawValue: "SPECIAL").rawValue == "SPECIAL")
    }

    @Test func anInvalidURLIsNamedInTheError() {
        #expect(throws: AFError.self) { try "http://[broken".asURL() }
        #expect((try? "http://a.example/x".asURL())?.absoluteString == "http://a.example/x")
    }

    @Test func theRetryPolicyHasTheDocumentedDefaults() {
        let policy = RetryPolicy()
        #expect(policy.retryLimit == 2)
        #expect(policy.exponentialBackoffBase == 2)
        #expect(policy.exponentialBackoffScale == 0.5)
        #expect(policy.retryableHTTPMethods == [.delete, .get, .head, .options, .put, .trace])
        #expect(policy.retryableHTTPStatusCodes == [408, 500, 502, 503, 504])
        #expect(policy.retryableURLErrorCodes.count == 18)
        #expect(policy.retryableURLErrorCodes.contains(.networkConnectionLost))
    }

    @Test(arguments: [
        ("image/*", "image/png", true), ("*/png", "image/png", true), ("*/*", "a/b", true),
        ("image/jpeg", "image/png", false), ("image/png", "image/png; q=1", true), ("IMAGE/PNG", "image/png", true),
    ])
    func mediaTypesMatchTheirPatterns(pattern: String, type: String, matches: Bool) throws {
        let (wanted, actual) = (try #require(MediaType(pattern)), try #require(MediaType(type)))
        #expect(wanted.matches(actual) == matches)
    }

    @Test(arguments: [
        (TransferError.Code.timedOut, URLError.Code.timedOut), (.connectionLost, .networkConnectionLost),
        (.cannotResolveHost, .cannotFindHost), (.cannotConnect, .cannotConnectToHost), (.badURL, .unsupportedURL),
        (.tooManyRedirects, .httpTooManyRedirects), (.cancelled, .cancelled),
    ])
    func transferErrorsAppearAsURLErrors(code: TransferError.Code, expected: URLError.Code) {
        let error = URLError(TransferError(code, "why", cause: .curl(7), isTransient: true))
        #expect(error.code == expected)
        #expect(error.transferError?.cause == .curl(7))
        #expect(error.localizedDescription == "why")
    }

    @Test func resumeDataOfSomethingElseIsRefused() {
        #expect(throws: TransferError.self) { try DownloadResumption(Data("nonsense".utf8)) }
    }
}
