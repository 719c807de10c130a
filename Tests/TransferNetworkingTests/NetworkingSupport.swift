import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// The test server has a type of this name too.
typealias Request = TransferNetworking.Request

/// Makes a session whose downloads are in `folder`.
func makeSession(
    _ folder: TemporaryFolder? = nil, starts: Bool = true, interceptor: (any RequestInterceptor)? = nil
) -> Session {
    var settings = SessionSettings()
    settings.loops = 1
    settings.startRequestsImmediately = starts
    settings.interceptor = interceptor
    if let folder { settings.temporaryFolder = folder.path }
    return Session(settings)
}

let testQueue = DispatchQueue(label: "tests")

/// The calls of a closure, which can be awaited in order.
final class Calls<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation
    private let seen = Mutex<[Value]>([])

    init() { (stream, continuation) = AsyncStream.makeStream() }

    var all: [Value] { seen.withLock { $0 } }

    func add(_ value: Value) {
        seen.withLock { $0.append(value) }
        continuation.yield(value)
    }

    /// Returns the first matching value that was not returned before.
    func first(where fits: (Value) -> Bool = { _ in true }) async -> Value? {
        for await value in stream where fits(value) { return value }
        return nil
    }
}

struct Greeting: Codable, Sendable, Equatable {
    var text: String
}

/// An adapter that adds a header and counts its calls.
final class HeaderAdapter: RequestInterceptor {
    let name: String
    let value: String
    private let counter = Mutex(0)
    var calls: Int { counter.withLock { $0 } }

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        counter.withLock { $0 += 1 }
        var request = urlRequest
        let before = request.value(forHTTPHeaderField: name)
        request.headers.update(name: name, value: before.map { "\($0),\(value)" } ?? value)
        // A second answer of the adapter must have no effect.
        completion(.success(request))
        completion(.success(request))
    }
}

/// A retrier that decides by a closure.
struct ClosureRetrier: RequestInterceptor {
    let decide: @Sendable (Request, any Error) -> RetryResult

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { completion(decide(request, error)) }
}

struct TestFailure: Error, Equatable {}

extension URLError {
    static func code(of error: AFError?) -> URLError.Code? { (error?.underlyingError as? URLError)?.code }
}
