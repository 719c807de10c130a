import CTransferCurl
import TransferCore

/// The reasons for which a transfer is held back right now.
struct Pace {
    /// The time at which the transfer may continue, while a rate limit holds it.
    var pausedUntil: MonotonicTime?
    var mustPause = false
    var holds: Holds = []
    /// The time at which the last byte came or went; kept where a bound on silence needs it.
    var lastActivity: MonotonicTime
    /// The bytes that all exchanges had moved by then.
    var movedBefore: Int64 = 0
    /// The last measurement of the transfer's rate with the bytes moved by then, where a rate is required.
    var lastLook: (time: MonotonicTime, moved: Int64)?

    init(lastActivity: MonotonicTime) { self.lastActivity = lastActivity }

    /// The reasons to hold a transfer back. It continues when none is left.
    struct Holds: OptionSet {
        let rawValue: Int32
        /// A caller has suspended the transfer.
        static let user = Holds(rawValue: 1)
        static let rate = Holds(rawValue: 2)
        /// The sink takes no more for now. Only reading stops.
        static let sink = Holds(rawValue: 4)
        /// The next piece of the request's body has not come yet. Only sending stops.
        static let body = Holds(rawValue: 8)
        /// A decision about the answer is still to come. Only reading stops.
        static let decision = Holds(rawValue: 16)
        /// A worker compares the file with the bytes that were sent. Reading stops as well: libcurl would take silence
        /// for a stall.
        static let source = Holds(rawValue: 32)

        /// The mask for `curl_easy_pause`.
        var mask: Int32 {
            (isDisjoint(with: [.user, .rate, .sink, .decision, .source]) ? 0 : CURLPAUSE_RECV)
                | (isDisjoint(with: [.user, .rate, .body, .source]) ? 0 : CURLPAUSE_SEND)
        }
    }
}
