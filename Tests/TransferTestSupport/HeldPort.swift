import Glibc

/// A port of 127.0.0.1 on which no process listens, and which no other server receives while a test's server is down.
///
/// The kernel lets a server listen on a port to which a non-listening socket is bound, as both have `SO_REUSEADDR`. It
/// never assigns such a port automatically.
public final class HeldPort: Sendable {
    public let number: UInt16
    private let descriptor: Int32

    public struct Failed: Error {
        public let code: Int32
    }

    public init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(code: errno) }
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, length) == 0 ? getsockname(descriptor, name, &length) : -1
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw Failed(code: code)
        }
        number = UInt16(bigEndian: name.sin_port)
    }

    deinit { close(descriptor) }
}
