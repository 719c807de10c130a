import Glibc

/// The sockets of a pool's connections, by their ends. Before a request leaves, libcurl reports the ends and not the
/// socket.
///
/// The table is used on the pool's loop only.
final class PlainSockets {
    /// The ends of a connection. One local port may have connections to several peers, and each address of a machine
    /// has its own ports.
    struct Ends: Hashable {
        let localAddress: String
        let localPort: Int
        let address: String
        let port: Int
    }

    private var sockets: [Ends: Int32] = [:]
    private static let limit = 1024

    /// Notes a connection's socket if it is a new one.
    ///
    /// - Parameter opened: The sockets that were made for the transfer that is about to use the connection.
    /// - Returns: Whether one of them is the connection's, so that the connection is new.
    func isNew(_ ends: Ends, among opened: [Int32]) -> Bool {
        guard let socket = opened.last(where: { Self.port(of: $0) == ends.localPort }) else { return false }
        if sockets.count >= Self.limit { sockets = sockets.filter { Self.port(of: $0.value) == $0.key.localPort } }
        sockets[ends] = socket
        return true
    }

    /// Returns the socket of a connection.
    ///
    /// - Returns: `nil` where the connection is unknown.
    func socket(of ends: Ends) -> Int32? { sockets[ends] }

    /// Returns whether the socket has unread bytes from the peer.
    static func hasUnread(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// The count of a connection's bytes that the peer had acknowledged at one moment.
    struct Acknowledged {
        let socket: Int32
        private let bytes: Int64

        /// Reads the count.
        ///
        /// - Returns: `nil` where the kernel does not report it.
        init?(_ socket: Int32) {
            guard let facts = TCPFacts(of: socket) else { return nil }
            self.socket = socket
            bytes = facts.acknowledged
        }

        /// Whether the peer has acknowledged more since. Each segment acknowledges what its sender had by then (RFC 9293
        /// §3.10.7.4), so one that is an answer acknowledges some of the request.
        var hasGrown: Bool { TCPFacts(of: socket)?.acknowledged != bytes }
    }

    /// Ends a connection that libcurl may keep, so that no later request uses it. The received bytes are discarded: with
    /// unread bytes, libcurl 7.88 takes a connection for a live one even after its shutdown.
    static func giveUp(_ socket: Int32) {
        // No byte can come in between after the shutdown.
        Glibc.shutdown(socket, Int32(SHUT_RDWR))
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            // The bound is enough for stray bytes; a peer that continues to send is cut off.
            for _ in 0..<64 {
                guard recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) > 0 else { return }
            }
        }
    }

    /// Returns the port of the socket's own end.
    static func port(of socket: Int32) -> Int? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        guard result == 0 else { return nil }
        return withUnsafePointer(to: &address) { address in
            switch Int32(address.pointee.ss_family) {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin6_port))
                }
            default: nil
            }
        }
    }
}
