import Dispatch
import Synchronization
import TransferCore
import TransferEngine

/// A client that fetches the publications of authorities about their certificates. It has connections of its own, as
/// those of sessions wait for its results.
final class RevocationFetcher: Sendable {
    static let shared = RevocationFetcher()

    private let lazyEngine = Mutex<ExchangeEngine?>(nil)

    /// Fetches a response, and blocks the calling thread until it has arrived or the time is over.
    ///
    /// - Parameter limit: The largest size of the response, in bytes; more is an error.
    /// - Throws: `TransferError`, which includes any status but 200.
    func fetch(
        _ url: String, posting body: [UInt8]? = nil, type: String? = nil, limit: Int,
        deadline: ContinuousClock.Instant, proxy: String?
    ) throws(TransferError) -> [UInt8] {
        let left = deadline - ContinuousClock.now
        guard left > .milliseconds(1) else { throw TransferError(.timedOut, "there was no time left to ask") }
        var settings = ExchangeSettings()
        settings.connectTimeout = left
        settings.maxTime = left
        settings.maxRedirects = 3
        settings.proxy = proxy
        let request = ExchangeRequest(
            url: url, method: body == nil ? "GET" : "POST",
            headers: type.map { [HeaderField("Content-Type", $0)] } ?? [],
            body: body.map { .bytes($0) } ?? .none, settings: settings)
        let ended = DispatchSemaphore(value: 0)
        let answer = FetchedAnswer()
        let handle = try engine().start(request) {
            FetchSink(limit: limit, answer: answer)
        } events: { event in
            guard case .ended(let outcome) = event else { return }
            answer.result.withLock { $0 = outcome.result }
            ended.signal()
        }
        // An unresponsive resolver can block a loop for longer than the exchange's own limit.
        let patience = DispatchTimeInterval.milliseconds(Int(left / .milliseconds(1)) + 250)
        guard ended.wait(timeout: .now() + patience) == .success, let result = answer.result.withLock({ $0 }) else {
            handle.cancel()
            throw TransferError(.timedOut, "there was no answer in time")
        }
        let head = try result.get()
        guard head.status == 200 else {
            throw TransferError(.httpStatus, "the answer has status \(head.status)", cause: .http(status: head.status))
        }
        return answer.bytes.withLock { $0 }
    }

    private func engine() throws(TransferError) -> ExchangeEngine {
        let made = lazyEngine.withLock { engine -> Result<ExchangeEngine, TransferError> in
            if let engine { return .success(engine) }
            do {
                let made = try ExchangeEngine(loops: 1, workers: 1)
                engine = made
                return .success(made)
            } catch {
                return .failure(error as? TransferError ?? TransferError(.internalFault, "\(error)"))
            }
        }
        return try made.get()
    }
}

/// The result that a loop passes to the waiting thread.
private final class FetchedAnswer: Sendable {
    let bytes = Mutex<[UInt8]>([])
    let result = Mutex<Result<ResponseHead, TransferError>?>(nil)
}

/// A sink that keeps a response in memory, and ends the exchange if it is too long.
private final class FetchSink: BodySink {
    private let limit: Int
    private let answer: FetchedAnswer
    private var count = 0

    init(limit: Int, answer: FetchedAnswer) {
        self.limit = limit
        self.answer = answer
    }

    var position: Int64 { Int64(count) }

    func begin(_ start: BodyStart) throws(TransferError) {
        answer.bytes.withLock { $0 = [] }
        count = 0
    }

    func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {
        count += new.count
        guard count <= limit else {
            throw TransferError(
                .badResponse,
                "the answer is longer than "
                    + "\(CountText.bytes(limit))")
        }
        answer.bytes.withLock { $0.append(contentsOf: new) }
    }
}
