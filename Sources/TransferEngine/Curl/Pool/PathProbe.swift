import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

/// A connection to a peer that only tests whether the network leads there.
///
/// The probe uses the source address of the doubtful connection, and is closed when it stands; no byte is sent on it. A
/// refusal is an answer too. Probes are used on the pool's loop only.
final class PathProbe {
    /// The bound of one attempt: the kernel's own second attempt may be seconds away.
    static let patience = Duration.seconds(1)

    private(set) var socket: Int32 = -1
    private(set) var began: MonotonicTime

    /// Begins a probe.
    ///
    /// - Parameter other: The doubtful connection.
    /// - Returns: `nil` where no connection can be begun.
    init?(beside other: Int32, now: MonotonicTime) {
        began = now
        var (local, peer) = (sockaddr_storage(), sockaddr_storage())
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard Self.name(&local, &length, { getsockname(other, $0, $1) }),
            Self.name(&peer, &length, { getpeername(other, $0, $1) })
        else { return nil }
        Self.clearPort(&local)
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socket = Glibc.socket(Int32(peer.ss_family), flags, 0)
        guard socket >= 0 else { return nil }
        _ = Self.name(&local, &length, { bind(socket, $0, $1.pointee) })
        let hasBegun = Self.name(&peer, &length) {
            connect(socket, $0, $1.pointee) == 0 || errno == EINPROGRESS ? 0 : -1
        }
        guard hasBegun else {
            close(socket)
            return nil
        }
    }

    /// Whether the peer answered, by the state of a socket that is ready.
    var wasAnswered: Bool {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 else { return false }
        return error == 0 || error == ECONNREFUSED
    }

    func end(on loop: EventLoop) {
        guard socket >= 0 else { return }
        loop.unregister(socket)
        close(socket)
        socket = -1
    }

    private static func name(
        _ address: inout sockaddr_storage, _ length: inout socklen_t,
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Bool {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) == 0 }
        }
    }

    private static func clearPort(_ address: inout sockaddr_storage) {
        // `sin_port` and `sin6_port` are at the same place.
        withUnsafeMutableBytes(of: &address) { $0.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self) }
    }
}

/// The peer of a connection, as the key of its connections.
struct PathPeer: Hashable {
    private let bytes: [UInt8]

    /// Reads the peer of a socket.
    ///
    /// - Returns: `nil` for a socket that is no IP connection.
    init?(of socket: Int32) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
        }
        guard code == 0, [AF_INET, AF_INET6].contains(Int32(address.ss_family)) else { return nil }
        // Family, port and address count; flow and scope of IPv6 are left out.
        let end = Int32(address.ss_family) == AF_INET ? 8 : 24
        bytes = withUnsafeBytes(of: &address) { Array($0[..<end]) }
    }
}
