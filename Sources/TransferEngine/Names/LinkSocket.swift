import CTransferAres
import Glibc
import TransferCore

/// Sockets that send and receive over one link only (socket(7), SO_BINDTODEVICE).
enum LinkSocket {
    /// The reason why there is no such socket.
    enum Fault: Error, Hashable {
        /// The link's fault, with the `errno` of setsockopt(2).
        case link(Int32)
        /// A fault unrelated to the link, with the `errno` of socket(2).
        case socket(Int32)
    }

    /// Opens a nonblocking socket that exec(2) closes, bound to the link.
    static func open(_ family: Int32, _ type: Int32, _ proto: Int32, link: String) -> Result<Int32, Fault> {
        // The kernel truncates a longer name, and takes an empty one as a request to remove the binding.
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

    /// Opens an unbound socket, for connections within this machine.
    static func openUnbound(_ family: Int32, _ type: Int32, _ proto: Int32) -> Int32 {
        socket(family, type | transfer_socket_cloexec, proto)
    }

    /// Checks whether a socket can be bound to the link.
    static func check(_ link: String) -> Result<Void, Fault> {
        open(AF_INET, transfer_socket_datagram, 0, link: link).map { _ = close($0) }
    }

    /// The longest name in bytes: IFNAMSIZ without its final zero (netdevice(7)).
    private static let longestName = 15
}

extension TransferError {
    /// Returns the error of a transfer whose required link could not be used, so that no byte was sent.
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
                "cannot bind to the link \(link), and nothing may go over another: \(String(cString: strerror(code)))"
            }
        // A tunnel may come up later.
        return TransferError(.linkUnavailable, message, cause: .os(errno: code), isTransient: true)
    }
}
