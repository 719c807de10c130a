import CTransferAres
import Glibc
import TransferCore

/// Sockets that send and receive over one link only (socket(7), SO_BINDTODEVICE).
enum LinkSocket {
    /// Why there is no such socket.
    enum Fault: Error, Hashable {
        /// The link's fault: `errno` of setsockopt(2).
        case link(Int32)
        /// `errno` of socket(2), which has nothing to do with the link.
        case socket(Int32)
    }

    /// A socket that doesn't block and doesn't survive exec(2), bound to the link.
    static func open(_ family: Int32, _ type: Int32, _ proto: Int32, link: String) -> Result<Int32, Fault> {
        // The kernel cuts a longer name off, and takes an empty one as the wish for no bond at all.
        guard (1...longestName).contains(link.utf8.count), !link.utf8.contains(0) else {
            return .failure(.link(ENODEV))
        }
        let flags = transfer_socket_cloexec | transfer_socket_nonblock
        let descriptor = socket(family, type | flags, proto)
        guard descriptor >= 0 else { return .failure(.socket(errno)) }
        guard setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, link, socklen_t(link.utf8.count)) == 0 else {
            let code = errno
            close(descriptor)
            return .failure(.link(code))
        }
        return .success(descriptor)
    }

    /// For what stays on this machine: bound to nothing.
    static func openUnbound(_ family: Int32, _ type: Int32, _ proto: Int32) -> Int32 {
        socket(family, type | transfer_socket_cloexec, proto)
    }

    /// Whether anything can be bound to the link.
    static func check(_ link: String) -> Result<Void, Fault> {
        open(AF_INET, transfer_socket_datagram, 0, link: link).map { _ = close($0) }
    }

    /// IFNAMSIZ without the zero at its end (netdevice(7)).
    private static let longestName = 15
}

extension TransferError {
    /// Nothing could be bound to the link that a transfer requires, so nothing was sent.
    static func linkUnavailable(_ link: String, errno code: Int32) -> TransferError {
        let message =
            switch code {
            case ENODEV:
                "there is no link \(link), and nothing may go over another; bring it up, or require one that is there "
                    + "(`ip link` lists them)"
            case EPERM:
                "not allowed to bind to the link \(link), and nothing may go over another; that takes Linux 5.7, or "
                    + "the capability CAP_NET_RAW"
            default:
                "can't bind to the link \(link), and nothing may go over another: \(String(cString: strerror(code)))"
            }
        // A tunnel may come up later.
        return TransferError(.linkUnavailable, message, cause: .os(errno: code), isTransient: true)
    }
}
