import Foundation
import Synchronization
import Testing
import TransferTestServer

@testable import TransferNetworking

// The documents' snippets, run as tests. `https://httpbin.org` becomes `server.url(…)`, the address of a server that
// answers like httpbin. Output of a snippet goes to a transcript. A snippet for an older version has its current form:
// `Alamofire.request` is `AF.request`, `flatMap` is `tryMap`.

/// Runs `body` with a server that has httpbin's paths.
func withHTTPBin(
    isolation: isolated (any Actor)? = #isolation, _ body: (TestServer) async throws -> Void
) async throws {
    try await withTestServer { server async throws in
        server.serveHTTPBin()
        try await body(server)
    }
}

/// Awaits the argument of a response handler.
func handed<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
    await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
}

/// The output of a snippet.
final class Transcript: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    var all: [String] { lines.withLock { $0 } }

    func print(_ item: Any) {
        let line = "\(item)"
        lines.withLock { $0.append(line) }
    }

    func debugPrint(_ item: Any) {
        let line = String(reflecting: item)
        lines.withLock { $0.append(line) }
    }
}

/// The request as httpbin reports it.
struct Echo: Decodable, Sendable {
    /// A name that came several times has a list.
    enum Field: Decodable, Equatable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        case one(String)
        case many([String])

        init(stringLiteral value: String) { self = .one(value) }
        init(arrayLiteral elements: String...) { self = .many(elements) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .many(try container.decode([String].self))
            }
        }
    }

    var args: [String: Field]?
    var data: String?
    var files: [String: Field]?
    var form: [String: Field]?
    var headers: [String: String]?
    var method: String?
    var url: String?
}

extension Echo {
    init(_ data: Data?) throws { self = try JSONDecoder().decode(Echo.self, from: #require(data)) }
}

extension DataRequest {
    /// Sends the request, since a snippet without a handler leaves it unsent.
    var echo: Echo { get async throws { try await serializingDecodable(Echo.self).value } }
}

/// A session that sends everything to the test server, whatever host a snippet names.
func makeSession(through server: TestServer) -> Session {
    var settings = SessionSettings()
    settings.loops = 1
    settings.proxy = server.url("")
    return Session(settings)
}

/// Checks the metrics of one transfer without redirects.
func expectTimes(in metrics: TransferTaskMetrics?, _ location: SourceLocation = #_sourceLocation) throws {
    let all = try #require(metrics, sourceLocation: location)
    #expect(all.transactionMetrics.count == 1, sourceLocation: location)
    let only = try #require(all.transactionMetrics.first, sourceLocation: location)
    let start = try #require(only.fetchStartDate, sourceLocation: location)
    let end = try #require(only.responseEndDate, sourceLocation: location)
    #expect(end > start, sourceLocation: location)
    #expect(only.countOfResponseBodyBytesReceived > 0, sourceLocation: location)
}
