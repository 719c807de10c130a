import CTransferCurl
import Glibc
import TransferCore

/// The path of an exchange's connection, as the pool watches it.
struct PathInUse {
    /// The sockets that libcurl waits for on behalf of the hop, with their inodes.
    var sockets: [curl_socket_t: ino_t] = [:]
    /// The socket that libcurl last waited for; -1 where there was none.
    var last: curl_socket_t = -1
    /// The socket over which the hop's body leaves; `nil` until libcurl waits for it.
    var sending: curl_socket_t?
    /// The largest segment in bytes, where larger ones may be lost on the path.
    var segmentSize: Int32?
}

/// The rule by which exchanges continue over another connection when theirs is lost.
enum LostPathRule {
    static func awaited(_ exchange: ActiveExchange) -> PathState.Awaited {
        guard exchange.pace.holds.isEmpty else { return .nothing }
        if exchange.answer.phase == .body || exchange.files?.fetches == true { return .body }
        return exchange.outgoing.hasMadeRequest || exchange.files != nil ? .answer : .handshake
    }

    static func mayLeave(_ exchange: ActiveExchange, _ loss: PathState.Loss) -> Bool {
        let rule = exchange.request.settings.timeouts.lostPaths
        guard rule != .kept else { return false }
        switch loss {
        case .dead: return true
        // A host that was given small segments is silent for another reason.
        case .stuck where exchange.connection.path.segmentSize != nil && !exchange.connection.opened.isEmpty:
            return false
        case .stuck where awaited(exchange) == .handshake: return true
        case .stale where rule == .left: return true
        case .stale, .stuck: return canContinue(exchange)
        }
    }

    /// Returns whether a download can continue from its byte, or has none yet.
    private static func canContinue(_ exchange: ActiveExchange) -> Bool {
        if let files = exchange.files { return files.fetches || files.looks }
        guard let hop = exchange.hop, !hop.sendsBody, hop.method == "GET" || hop.method == "HEAD" else { return false }
        guard exchange.answer.phase == .body, let start = exchange.start else { return true }
        return start.head.status == 206
            || start.isContinuable && Validator(start.head) != nil && start.head.value("Accept-Ranges") != "none"
    }
}
