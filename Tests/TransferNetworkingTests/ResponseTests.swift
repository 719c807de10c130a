import Foundation
import FoundationNetworking
import Testing

@testable import TransferNetworking

@Suite("Responses")
struct ResponseTests {
    static let url = URL(string: "http://a.example/x")!
    static let file = URL(fileURLWithPath: "/tmp/file")

    static let metrics = TransferTaskMetrics(
        transactionMetrics: [], taskInterval: DateInterval(start: Date(timeIntervalSince1970: 0), duration: 1.5),
        redirectCount: 2)

    static func head(_ headers: [String: String] = [:], url: URL = url) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: headers))
    }

    static func data<Value>(_ result: AFResult<Value>) throws -> AFDataResponse<Value> {
        AFDataResponse(
            request: URLRequest(url: url), response: try head(), data: Data("body".utf8), metrics: metrics,
            serializationDuration: 0.25, result: result)
    }

    static func download<Value>(_ result: AFResult<Value>) throws -> AFDownloadResponse<Value> {
        AFDownloadResponse(
            request: URLRequest(url: url), response: try head(), fileURL: file, resumeData: Data("more".utf8),
            metrics: metrics, serializationDuration: 0.25, result: result)
    }

    /// Expects that a change of the result leaves all other properties unchanged.
    private func expectRest<Value, Failure>(
        of response: DataResponse<Value, Failure>, location: SourceLocation = #_sourceLocation
    ) {
        #expect(response.request?.url == Self.url, sourceLocation: location)
        #expect(response.response?.statusCode == 201, sourceLocation: location)
        #expect(response.data == Data("body".utf8), sourceLocation: location)
        #expect(response.metrics?.redirectCount == 2, sourceLocation: location)
        #expect(response.serializationDuration == 0.25, sourceLocation: location)
    }

    private func expectRest<Value, Failure>(
        of response: DownloadResponse<Value, Failure>, location: SourceLocation = #_sourceLocation
    ) {
        #expect(response.request?.url == Self.url, sourceLocation: location)
        #expect(response.response?.statusCode == 201, sourceLocation: location)
        #expect(response.fileURL == Self.file, sourceLocation: location)
        #expect(response.resumeData == Data("more".utf8), sourceLocation: location)
        #expect(response.metrics?.redirectCount == 2, sourceLocation: location)
        #expect(response.serializationDuration == 0.25, sourceLocation: location)
    }

    @Test func valueAndErrorAreThoseOfTheResult() throws {
        let good = (try Self.data(.success(1)), try Self.download(.success(1)))
        #expect(good.0.value == 1 && good.1.value == 1)
        #expect(good.0.error == nil && good.1.error == nil)
        let bad = (
            try Self.data(AFResult<Int>.failure(.explicitlyCancelled)),
            try Self.download(AFResult<Int>.failure(.explicitlyCancelled))
        )
        #expect(bad.0.value == nil && bad.1.value == nil)
        #expect(bad.0.error?.isExplicitlyCancelledError == true)
        #expect(bad.1.error?.isExplicitlyCancelledError == true)
    }

    @Test func anOptionalValueThatIsNilIsStillASuccess() throws {
        let response = try Self.data(AFResult<Data?>.success(nil))
        #expect(response.value == .some(nil))
        #expect(response.error == nil)
    }

    @Test func mapChangesTheValueAndNothingElse() throws {
        let data = try Self.data(.success(20)).map { "\($0 + 1)" }
        #expect(data.value == "21")
        expectRest(of: data)
        let download = try Self.download(.success(20)).map { "\($0 + 1)" }
        #expect(download.value == "21")
        expectRest(of: download)
    }

    @Test func mapIsNotCalledForAFailure() throws {
        let data = try Self.data(AFResult<Int>.failure(.explicitlyCancelled))
            .map { _ in Issue.record("called") }
        #expect(data.error?.isExplicitlyCancelledError == true)
        expectRest(of: data)
        let download = try Self.download(AFResult<Int>.failure(.explicitlyCancelled))
            .map { _ in Issue.record("called") }
        #expect(download.error?.isExplicitlyCancelledError == true)
        expectRest(of: download)
    }

    @Test func tryMapGivesTheNewValueOrTheThrownError() throws {
        let data = try Self.data(.success(1))
        #expect(data.tryMap { $0 + 1 }.value == 2)
        let failed = data.tryMap { _ -> Int in throw TestFailure() }
        #expect(failed.error as? TestFailure == TestFailure())
        expectRest(of: failed)
        let download = try Self.download(.success(1))
        #expect(download.tryMap { $0 + 1 }.value == 2)
        let failedDownload = download.tryMap { _ -> Int in throw TestFailure() }
        #expect(failedDownload.error as? TestFailure == TestFailure())
        expectRest(of: failedDownload)
    }

    @Test func tryMapKeepsAFailure() throws {
        let data = try Self.data(AFResult<Int>.failure(.explicitlyCancelled)).tryMap { $0 + 1 }
        #expect(data.error?.asAFError?.isExplicitlyCancelledError == true)
        let download = try Self.download(AFResult<Int>.failure(.explicitlyCancelled)).tryMap { $0 + 1 }
        #expect(download.error?.asAFError?.isExplicitlyCancelledError == true)
    }

    @Test func mapErrorChangesTheFailureAndNothingElse() throws {
        let data = try Self.data(AFResult<Int>.failure(.explicitlyCancelled)).mapError { _ in TestFailure() }
        #expect(data.error == TestFailure())
        expectRest(of: data)
        let download = try Self.download(AFResult<Int>.failure(.explicitlyCancelled)).mapError { _ in TestFailure() }
        #expect(download.error == TestFailure())
        expectRest(of: download)
        #expect(try Self.data(.success(1)).mapError { _ in TestFailure() }.value == 1)
        #expect(try Self.download(.success(1)).mapError { _ in TestFailure() }.value == 1)
    }

    @Test func tryMapErrorGivesTheNewFailureOrTheThrownError() throws {
        struct Other: Error {}
        let data = try Self.data(AFResult<Int>.failure(.explicitlyCancelled))
        #expect(data.tryMapError { _ in TestFailure() }.error is TestFailure)
        let thrown = data.tryMapError { _ -> TestFailure in throw Other() }
        #expect(thrown.error is Other)
        expectRest(of: thrown)
        let download = try Self.download(AFResult<Int>.failure(.explicitlyCancelled))
        #expect(download.tryMapError { _ in TestFailure() }.error is TestFailure)
        let thrownDownload = download.tryMapError { _ -> TestFailure in throw Other() }
        #expect(thrownDownload.error is Other)
        expectRest(of: thrownDownload)
        #expect(try Self.data(.success(1)).tryMapError { _ in TestFailure() }.value == 1)
        #expect(try Self.download(.success(1)).tryMapError { _ in TestFailure() }.value == 1)
    }

    // MARK: Descriptions

    @Test func theDescriptionIsTheResult() throws {
        #expect("\(try Self.data(.success("v")))" == "success(v)")
        #expect("\(try Self.download(.success(7)))" == "success(7)")
        let failed = try Self.data(AFResult<Int>.failure(.explicitlyCancelled))
        #expect("\(failed)" == "failure(\(AFError.explicitlyCancelled))")
    }

    @Test func theDebugDescriptionHasOneTopicPerLine() throws {
        var request = try URLRequest(url: "http://a.example/x", method: .put, headers: ["B": "2", "A": "1"])
        request.httpBody = Data("12345".utf8)
        let response = AFDataResponse(
            request: request, response: try Self.head(["Content-Type": "text/plain"]), data: Data("two\nlines".utf8),
            metrics: Self.metrics, serializationDuration: 0.25, result: .success(1))
        #expect(
            response.debugDescription == """
                Request: PUT http://a.example/x
                    A: 1
                    B: 2
                    Body: 5 bytes
                Response: 201 http://a.example/x
                    Content-Type: text/plain
                    Body: 9 bytes
                    two
                    lines
                Network: 1.500000 s
                Serialization: 0.250000 s
                Result: success(1)
                """)
    }

    @Test func theDebugDescriptionOfADownloadNamesTheFile() throws {
        #expect(
            try Self.download(.success(1)).debugDescription == """
                Request: GET http://a.example/x
                Response: 201 http://a.example/x
                File: /tmp/file
                Resume data: 4 bytes
                Network: 1.500000 s
                Serialization: 0.250000 s
                Result: success(1)
                """)
    }

    @Test func missingPartsAreMarkedInTheDescription() {
        let data = AFDataResponse<Int>(
            request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0,
            result: .failure(.explicitlyCancelled))
        #expect(
            data.debugDescription.hasPrefix(
                """
                Request: none
                Response: none
                Network: not reached
                Serialization: 0.000000 s
                Result: failure(
                """))
        let download = AFDownloadResponse<Int>(
            request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
            result: .failure(.explicitlyCancelled))
        #expect(download.debugDescription.contains("File: none\nResume data: none\n"))
    }

    @Test func noSecretIsInADescription() throws {
        let secret = "s3cr3t"
        let address = "https://user:\(secret)@a.example/x?X-Amz-Signature=\(secret)&q=1"
        var request = try URLRequest(
            url: address, method: .post,
            headers: [
                .authorization(bearerToken: secret), HTTPHeader(name: "Cookie", value: "id=\(secret)"),
                HTTPHeader(name: "X-Api-Key", value: secret), HTTPHeader(name: "Referer", value: address),
            ])
        request.httpBody = Data("password=\(secret)".utf8)
        let head = try Self.head(
            ["Set-Cookie": "id=\(secret)", "Location": address], url: try #require(URL(string: address)))
        let failure = AFError.invalidURL(url: address)
        let data = AFDataResponse<Int>(
            request: request, response: head, data: nil, metrics: nil, serializationDuration: 0,
            result: .failure(failure))
        let download = AFDownloadResponse<Int>(
            request: request, response: head, fileURL: nil, resumeData: Data("url=\(address)".utf8), metrics: nil,
            serializationDuration: 0, result: .failure(failure))
        for text in ["\(data)", data.debugDescription, "\(download)", download.debugDescription] {
            #expect(!text.contains(secret))
        }
        #expect(data.debugDescription.contains("https://a.example/x?X-Amz-Signature=***&q=1"))
        #expect(data.debugDescription.contains("Authorization: ***"))
    }

    @Test(
        arguments: [
            (Data("plain".utf8), true), (Data("tab\tand\r\nline".utf8), true), (Data("\u{1B}[2J".utf8), false),
            (Data([0xFF, 0xFE]), false), (Data(repeating: 0x61, count: ResponseReport.longestBody + 1), false),
        ])
    func onlyShortPlainTextIsShownOfABody(body: Data, isShown: Bool) throws {
        let response = AFDataResponse(
            request: nil, response: try Self.head(), data: body, metrics: nil, serializationDuration: 0,
            result: .success(1))
        let lines = response.debugDescription.split(separator: "\n")
        let index = try #require(lines.firstIndex(of: "    Body: \(body.count) bytes"))
        #expect(lines[index + 1].hasPrefix("    ") == isShown)
        #expect(!response.debugDescription.contains("\u{1B}"))
    }
}
