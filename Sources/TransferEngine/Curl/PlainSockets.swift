import Glibc

/// The sockets of a pool's connections, by their ends: before a request leaves, libcurl says between which ends, and not on
/// which socket.
///
/// Used on the pool's loop only.
final class PlainSockets {
    /// One local port may have connections to several peers, and each of a machine's addresses has ports of its own.
    struct Ends: Hashable {
        let localAddress: String
        let localPort: Int
        let address: String
        let port: Int
    }

    private var sockets: [Ends: Int32] = [:]
    private static let limit = 1024

    /// - Parameter opened: Sockets that were made for the transfer that is about to use the connection.
    /// - Returns: Whether one of them is the connection's: then it's new.
    func isNew(_ ends: Ends, among opened: [Int32]) -> Bool {
        guard let socket = opened.last(where: { Self.port(of: $0) == ends.localPort }) else { return false }
        if sockets.count >= Self.limit { sockets = sockets.filter { Self.port(of: $0.value) == $0.key.localPort } }
        sockets[ends] = socket
        return true
    }

    /// - Returns: `nil` where the connection isn't known.
    func socket(of ends: Ends) -> Int32? { sockets[ends] }

    /// Whether the peer has said something that nobody has read.
    static func hasUnread(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// The count of a connection's bytes that the peer had acknowledged at a moment.
    struct Acknowledged {
        let socket: Int32
        private let bytes: Int64

        /// - Returns: `nil` where the kernel doesn't say.
        init?(_ socket: Int32) {
            guard let facts = TCPFacts(of: socket) else { return nil }
            self.socket = socket
            bytes = facts.acknowledged
        }

        /// Whether the peer has acknowledged more since. Each segment acknowledges what its sender had by then (RFC 9293
        /// §3.10.7.4), so one that is an answer acknowledges some of the request.
        var hasGrown: Bool { TCPFacts(of: socket)?.acknowledged != bytes }
    }

    /// Ends a connection that libcurl is about to keep: to it, one with unread bytes is alive.
    static func giveUp(_ socket: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            // Enough for what belongs to nobody; who goes on sending is cut off.
            for _ in 0..<64 where recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
        Glibc.shutdown(socket, Int32(SHUT_RDWR))
    }

    private static func port(of socket: Int32) -> Int? {
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
