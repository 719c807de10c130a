import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

/// A connection to a peer that is made for one question: whether the network leads there.
///
/// The probe comes from the address of the connection that is in doubt, and is closed when it stands; nothing is sent on it. A
/// refusal is an answer too. Used on the pool's loop only.
final class PathProbe {
    /// The end of one attempt: the kernel's own second one may be seconds away.
    static let patience = Duration.seconds(1)

    private(set) var socket: Int32 = -1
    private(set) var began: MonotonicTime

    /// - Parameter other: The connection that is in doubt.
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

    /// Whether the peer answered: what the socket says once it is ready.
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

/// The peer of a connection, as one of several.
struct PathPeer: Hashable {
    private let bytes: [UInt8]

    /// - Returns: `nil` for what is no connection of IP.
    init?(of socket: Int32) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
        }
        guard code == 0, [AF_INET, AF_INET6].contains(Int32(address.ss_family)) else { return nil }
        // Family and port, and the address; flow and scope of IPv6 are left out.
        let end = Int32(address.ss_family) == AF_INET ? 8 : 24
        bytes = withUnsafeBytes(of: &address) { Array($0[..<end]) }
    }
}
