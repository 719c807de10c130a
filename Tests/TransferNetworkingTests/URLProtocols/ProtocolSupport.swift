import Foundation
import FoundationNetworking
import Synchronization
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// A mock as programs write it, whose closure answers for `mock.example/NAME`.
final class MockProtocol: URLProtocol {
    typealias Answer = @Sendable (MockProtocol, any URLProtocolClient) -> Void

    static let answers = Mutex<[String: Answer]>([:])
    private static let stops = Mutex<[String: Calls<Void>]>([:])

    /// Returns the stops of the mock of this name. A stop runs on the protocol's queue, so a response may precede it.
    static func stops(of name: String) -> Calls<Void> {
        stops.withLock { all in
            let calls = all[name] ?? Calls()
            all[name] = calls
            return calls
        }
    }

    static func answer(_ name: String, _ answer: @escaping Answer) -> URL {
        answers.withLock { $0[name] = answer }
        return URL(string: "https://mock.example/\(name)") ?? URL(fileURLWithPath: "/")
    }

    var name: String { request.url?.lastPathComponent ?? "" }

    override class func canInit(with request: URLRequest) -> Bool {
        request.url?.host == "mock.example" || request.url?.scheme == "mock"
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("yes", forHTTPHeaderField: "X-Canonical")
        return request
    }

    override func startLoading() {
        guard let client else { return }
        guard let answer = Self.answers.withLock({ $0[name] }) else {
            client.urlProtocol(self, didFailWithError: URLError(.badURL))
            return
        }
        answer(self, client)
    }

    override func stopLoading() { Self.stops(of: name).add(()) }

    // MARK: Answers

    func head(_ status: Int = 200, _ fields: [String: String] = [:]) -> URLResponse {
        let url = request.url ?? URL(fileURLWithPath: "/")
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    func respond(
        _ status: Int = 200, _ fields: [String: String] = [:], body: String = "",
        policy: URLCache.StoragePolicy = .notAllowed
    ) {
        client?.urlProtocol(self, didReceive: head(status, fields), cacheStoragePolicy: policy)
        if !body.isEmpty { client?.urlProtocol(self, didLoad: Data(body.utf8)) }
        client?.urlProtocolDidFinishLoading(self)
    }

    /// The body as mocks read it.
    var body: Data? {
        if let body = request.httpBody { return body }
        guard let stream = request.httpBodyStream else { return nil }
        stream.open()
        defer { stream.close() }
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 1000)
        while stream.hasBytesAvailable {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { break }
            all.append(contentsOf: buffer[..<count])
        }
        return all
    }
}

/// A mock that answers later. `@unchecked`: its client may be called on any thread.
struct HeldMock: @unchecked Sendable {
    let mock: MockProtocol
}

func makeMockedSession(
    _ folder: TemporaryFolder? = nil, _ change: (inout SessionSettings) -> Void = { _ in }
) -> Session {
    let configuration = URLSessionConfiguration.af.default
    configuration.protocolClasses = [MockProtocol.self] + (configuration.protocolClasses ?? [])
    configuration.headers.add(name: "X-Session", value: "session")
    var settings = SessionSettings(configuration: configuration)
    settings.loops = 1
    if let folder { settings.temporaryFolder = folder.path }
    change(&settings)
    return Session(settings, configuration: configuration)
}
