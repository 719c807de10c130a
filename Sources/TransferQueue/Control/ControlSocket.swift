import Glibc
import TransferCore
import TransferEventLoop

/// A datagram socket by which other processes ring this one: what they want stands in the database.
final class ControlSocket {
    let path: String
    let descriptor: Int32

    /// - Parameter onRing: Called on the loop.
    /// - Returns: `nil` where no socket can be made; commands then take effect with the next change of the queue.
    init?(folder: String, loop: EventLoop, onRing: @escaping () -> Void) {
        let path = "\(folder)/transfer-\(getpid())-\(UInt32.random(in: 0...0xFFFF)).sock"
        guard var address = Self.address(path) else { return nil }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        unlink(path)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else {
            close(descriptor)
            return nil
        }
        chmod(path, 0o600)
        self.path = path
        self.descriptor = descriptor
        loop.register(descriptor, for: .readable) { _ in
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 {}
            onRing()
        }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Rings the process that listens there; one that doesn't any more is no error.
    static func ring(_ path: String) {
        guard var address = address(path) else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var byte: UInt8 = 1
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    descriptor, &byte, 1, Int32(MSG_DONTWAIT), $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// `nil` for a path that is too long for one (unix(7): 108 bytes with the zero at its end).
    private static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// Folders to try, in order: `XDG_RUNTIME_DIR` is short and private; the others serve where it isn't set.
    static func folders(runtime: String?, state: String) -> [String] {
        [runtime, state, "/tmp"].compactMap { $0 }
    }
}
