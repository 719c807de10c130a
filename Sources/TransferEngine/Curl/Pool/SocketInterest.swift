import CTransferCurl
import TransferEventLoop

/// The events that libcurl wants to be notified of on its sockets, and those that the loop watches for.
///
/// A socket that libcurl no longer watches is likely to be watched again for the next request. Until an event comes,
/// the socket stays registered.
///
/// While TLS begins on a data connection of FTP, libcurl (7.88) watches that connection alone. The server may continue
/// on it only after commands whose replies come on the other one. Programs that poll libcurl do not notice. Here
/// libcurl must be notified of such replies, repeatedly if it leaves them unread.
struct SocketInterest {
    enum Ready {
        /// libcurl is notified.
        case tell
        /// A reply that libcurl may be able to use is offered.
        case offer
        /// The socket is no longer of interest.
        case unregister
    }

    private(set) var wanted: Set<curl_socket_t> = []
    /// The sockets that are registered and not wanted.
    private var unwanted: Set<curl_socket_t> = []
    /// The unregistered sockets with a reply that libcurl did not use when it was offered.
    private var unread: Set<curl_socket_t> = []

    /// Notes the events that libcurl wants to be notified of.
    ///
    /// - Parameter what: The CURL_POLL_… value.
    /// - Returns: The events for which the socket is to be registered; `nil` changes nothing.
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

    /// Decides about an event on a registered socket.
    ///
    /// - Parameter awaitsReply: Whether an exchange may be able to use a reply that came on it.
    mutating func ready(_ socket: curl_socket_t, awaitsReply: @autoclosure () -> Bool) -> Ready {
        guard unwanted.contains(socket) else { return .tell }
        if awaitsReply() { return .offer }
        unwanted.remove(socket)
        return .unregister
    }

    /// Decides about bytes that were offered to libcurl. Unread bytes would otherwise be offered again at once, without
    /// end.
    ///
    /// - Parameters:
    ///   - hasBytes: Whether there are still unread bytes.
    ///   - awaitsReply: Whether an exchange may still be able to use them, a little later.
    /// - Returns: Whether the socket is to be unregistered for now.
    mutating func offered(
        _ socket: curl_socket_t, hasBytes: @autoclosure () -> Bool, awaitsReply: @autoclosure () -> Bool
    ) -> Bool {
        guard unwanted.contains(socket), hasBytes() else { return false }
        unwanted.remove(socket)
        if awaitsReply() { unread.insert(socket) }
        return true
    }

    /// Notes a socket on which a reply may come that libcurl does not ask for.
    ///
    /// libcurl never asks for a socket whose replies had come with its calls so far.
    ///
    /// - Returns: Whether the socket is to be registered for reading.
    mutating func expectsReply(on socket: curl_socket_t) -> Bool {
        guard !wanted.contains(socket), !unread.contains(socket) else { return false }
        return unwanted.insert(socket).inserted
    }

    var hasUnread: Bool { !unread.isEmpty }

    /// Takes the sockets whose replies are offered once more.
    ///
    /// - Parameter awaitsReply: Whether an exchange may be able to use the bytes of a socket.
    /// - Returns: The sockets to be registered for reading.
    mutating func offerAgain(where awaitsReply: (curl_socket_t) -> Bool) -> [curl_socket_t] {
        let sockets = unread.filter(awaitsReply)
        unread.removeAll()
        unwanted.formUnion(sockets)
        return Array(sockets)
    }
}
