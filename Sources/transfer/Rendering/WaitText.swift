import TransferCore
import TransferQueue

/// The reasons of waits, as text.
enum WaitText {
    /// Returns the text for the live screen, with a countdown: `cdn.example said 429, asks for 0:42`.
    ///
    /// - Parameters:
    ///   - failure: The reason of the last failed attempt, where one is known.
    ///   - elapsed: The milliseconds since the wait was reported.
    static func screen(_ reason: WaitReason, because failure: String? = nil, elapsed: Int64) -> String {
        switch reason {
        case .host(let origin, let status, let message, let remaining, let isAsked):
            let countdown = NumberText.countdown(milliseconds: remaining.inMilliseconds - elapsed)
            if let status {
                return "\(host(origin)) said \(status), \(isAsked ? "asks for" : "next try in") \(countdown)"
            }
            return "\(host(origin)): \(message), next try in \(countdown)"
        case .retry(let remaining):
            let countdown = NumberText.countdown(milliseconds: remaining.inMilliseconds - elapsed)
            return (failure.map { "\($0), " } ?? "") + "next try in \(countdown)"
        case .disk(let message, let remaining, _):
            let countdown = NumberText.countdown(milliseconds: remaining.inMilliseconds - elapsed)
            return "for the disk: \(message), next try in \(countdown)"
        default: return other(reason)
        }
    }

    /// Returns a text such as `offline 6 s, waiting: eth0 no carrier, wwan0 no route; no attempt is spent`.
    ///
    /// - Parameter milliseconds: The duration.
    /// - Returns: `nil` for a wait for the network that is not due to a missing one.
    static func offline(_ reason: String, for milliseconds: Int64) -> String? {
        guard reason == "offline" || reason.hasPrefix("offline: ") else { return nil }
        let links = reason == "offline" ? "there is no link" : String(reason.dropFirst("offline: ".count))
        let time = DurationText.words(.seconds(max(0, milliseconds) / 1000))
        return "offline \(time), waiting: \(links); no attempt is spent"
    }

    /// Returns the text for a log, which has its own time: `cdn.example: 429, Retry-After 42 s`.
    static func log(_ reason: WaitReason) -> String {
        switch reason {
        case .host(let origin, let status, let message, let remaining, let isAsked):
            let next = "next try \(after(remaining))"
            if let status { return "\(host(origin)): \(status), \(isAsked ? "Retry-After \(time(remaining))" : next)" }
            return "\(host(origin)): \(message), \(next)"
        case .retry(let remaining): return "next try \(after(remaining))"
        case .disk(let message, let remaining, _): return "\(message), next try \(after(remaining))"
        default: return other(reason)
        }
    }

    /// Returns `in 42 s`, `in 5m 00s`, `in 0.2 s`, or `at once` where nothing remains.
    static func after(_ duration: Duration) -> String {
        duration.inMilliseconds > 0 ? "in \(time(duration))" : "at once"
    }

    /// Returns `42 s` or `5m 00s`; below a second its tenths. A part of a second counts as a whole one.
    static func time(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.inMilliseconds)
        let tenths = (milliseconds + 99) / 100
        guard milliseconds == 0 || tenths >= 10 else { return "0.\(tenths) s" }
        return DurationText.words(.seconds((milliseconds + 999) / 1000))
    }

    /// Returns the server's name, without the scheme of an origin.
    static func host(_ origin: String) -> String {
        guard let scheme = origin.firstRange(of: "://") else { return origin }
        return String(origin[scheme.upperBound...])
    }

    private static func other(_ reason: WaitReason) -> String {
        switch reason {
        case .host, .retry, .disk: ""
        case .dependency(let need): "for \(need)"
        case .slot: "for a free slot"
        case .paused: "paused"
        case .network(let reason), .schedule(let reason), .clock(let reason), .openFiles(let reason): reason
        }
    }
}
