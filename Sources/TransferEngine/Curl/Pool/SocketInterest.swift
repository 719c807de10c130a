import CTransferCurl
import TransferEventLoop

/// The events that libcurl wants to hear of on its sockets, against those that they are registered for at the loop.
///
/// A socket that libcurl doesn't want to hear of any more is likely to be wanted again for the next request: until
/// something happens on it, it stays registered.
///
/// While the TLS of a data connection of FTP comes about, libcurl (7.88) waits for that connection alone, although the
/// server may go on with it only after commands whose replies come on the other one. Those who ask libcurl over and over
/// don't notice; here it has to be told of such replies, and told again of those that it leaves where they are.
struct SocketInterest {
    enum Ready {
        /// libcurl is told.
        case tell
        /// A reply that libcurl may have use for is offered.
        case offer
        /// The socket is of no interest any more.
        case unregister
    }

    private(set) var wanted: Set<curl_socket_t> = []
    /// Registered, and not wanted.
    private var unwanted: Set<curl_socket_t> = []
    /// Not registered: there is a reply on them that libcurl had no use for when it was offered.
    private var unread: Set<curl_socket_t> = []

    /// libcurl says what it wants to hear of a socket.
    ///
    /// - Parameter what: CURL_POLL_….
    /// - Returns: What the socket is to be registered for; `nil` changes nothing.
    mutating func changed(_ socket: curl_socket_t, _ what: Int32) -> ReadyEvents? {
        switch what {
        case CURL_POLL_REMOVE:
            unwanted.insert(socket)
            wanted.remove(socket)
            return nil
        case CURL_POLL_IN, CURL_POLL_OUT, CURL_POLL_INOUT:
            unwanted.remove(socket)
            wanted.insert(socket)
            if !unread.isEmpty { unread.remove(socket) }
            var events: ReadyEvents = []
            if what & CURL_POLL_IN != 0 { events.insert(.readable) }
            if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
            return events
        default: return nil
        }
    }

    /// Something happened on a registered socket.
    ///
    /// - Parameter awaitsReply: Whether an exchange may have use for a reply that came on it.
    mutating func ready(_ socket: curl_socket_t, awaitsReply: @autoclosure () -> Bool) -> Ready {
        guard unwanted.contains(socket) else { return .tell }
        if awaitsReply() { return .offer }
        unwanted.remove(socket)
        return .unregister
    }

    /// libcurl was offered what is on the socket. What it doesn't take would be offered again at once, and for ever.
    ///
    /// - Parameters:
    ///   - hasBytes: Whether there is something still.
    ///   - awaitsReply: Whether an exchange still may have use for it, a little later.
    /// - Returns: Whether the socket is to be unregistered for now.
    mutating func offered(
        _ socket: curl_socket_t, hasBytes: @autoclosure () -> Bool, awaitsReply: @autoclosure () -> Bool
    ) -> Bool {
        guard unwanted.contains(socket), hasBytes() else { return false }
        unwanted.remove(socket)
        if awaitsReply() { unread.insert(socket) }
        return true
    }

    var hasUnread: Bool { !unread.isEmpty }

    /// Takes the sockets whose replies are offered once more.
    ///
    /// - Parameter awaitsReply: Whether an exchange may have use for what came on it.
    /// - Returns: Sockets to be registered for reading.
    mutating func offerAgain(where awaitsReply: (curl_socket_t) -> Bool) -> [curl_socket_t] {
        let sockets = unread.filter(awaitsReply)
        unread.removeAll()
        unwanted.formUnion(sockets)
        return Array(sockets)
    }
}
