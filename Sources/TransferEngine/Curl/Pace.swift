import CTransferCurl
import TransferCore

/// Whether a transfer goes on right now, and why it doesn't.
struct Pace {
    /// When the transfer may go on, while a rate limit holds it.
    var pausedUntil: MonotonicTime?
    var mustPause = false
    var holds: Holds = []
    /// The time at which a byte came or went last; kept where somebody asks.
    var lastActivity: MonotonicTime
    /// Bytes that all exchanges had moved by then.
    var movedBefore: Int64 = 0
    /// The last look at its rate, and the bytes that had moved by then, where it has to have a rate.
    var lastLook: (time: MonotonicTime, moved: Int64)?

    init(lastActivity: MonotonicTime) { self.lastActivity = lastActivity }

    /// Reasons to hold a transfer back; it goes on when none is left.
    struct Holds: OptionSet {
        let rawValue: Int32
        /// Somebody suspended it.
        static let user = Holds(rawValue: 1)
        static let rate = Holds(rawValue: 2)
        /// The sink takes no more for now. Only reading stops.
        static let sink = Holds(rawValue: 4)
        /// The next piece of the request's body isn't there yet. Only sending stops.
        static let body = Holds(rawValue: 8)
        /// A decision about the answer is still to come. Only reading stops.
        static let decision = Holds(rawValue: 16)
        /// A worker compares the file with the bytes that were sent. Reading stops as well: libcurl would take silence for a stall.
        static let source = Holds(rawValue: 32)

        /// For `curl_easy_pause`.
        var mask: Int32 {
            (isDisjoint(with: [.user, .rate, .sink, .decision, .source]) ? 0 : CURLPAUSE_RECV)
                | (isDisjoint(with: [.user, .rate, .body, .source]) ? 0 : CURLPAUSE_SEND)
        }
    }
}
