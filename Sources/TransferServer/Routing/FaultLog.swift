import HTTPTypes
import Logging
import Synchronization
import TransferQueue

/// The log of responses that report a fault of the service, or a temporary condition. A condition that lasts is logged once
/// a minute, with the number of requests that it affected.
final class FaultLog: Sendable {
    private struct Seen {
        var last: ContinuousClock.Instant
        var count = 0
    }

    private let seen = Mutex<[String: Seen]>([:])
    private static let pause = Duration.seconds(60)
    /// The maximum number of conditions to remember; their codes are few.
    private static let most = 100

    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Logs a response.
    ///
    /// - Parameter place: The name of the call, or the method and path of the request.
    func log(_ problem: Problem, _ error: any Error, at place: String) {
        guard let more = due(problem.code, at: .now) else { return }
        let words = (error as? Problem).map(\.detail) ?? "\(error)"
        let others = more > 0 ? " (and \(CountText.words(more, "request")) before)" : ""
        let line: Logger.Message = "\(place): \(words)\(others)"
        if problem.status == .serviceUnavailable { logger.warning(line) } else { logger.error(line) }
    }

    /// Returns the number of requests since the last line about this condition; `nil` where that line is recent.
    func due(_ code: String, at now: ContinuousClock.Instant) -> Int? {
        seen.withLock { seen in
            if var entry = seen[code], now - entry.last < Self.pause {
                entry.count += 1
                seen[code] = entry
                return nil
            }
            if seen.count >= Self.most { seen = [:] }
            let count = seen[code]?.count ?? 0
            seen[code] = Seen(last: now)
            return count
        }
    }
}
