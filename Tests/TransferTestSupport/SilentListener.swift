internal import Glibc

/// Takes connections on a free loopback port, and never reads from them.
public final class SilentListener: Sendable {
    public let port: UInt16
    public var url: String { "http://127.0.0.1:\(port)" }
    private let descriptor: Int32

    public init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw TestSupportError("no port to listen on") }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
