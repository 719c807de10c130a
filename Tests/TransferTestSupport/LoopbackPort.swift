internal import Glibc

/// Ports on 127.0.0.1.
public enum LoopbackPort {
    /// Returns a port that was free a moment ago, outside the range that the kernel assigns automatically (ip(7),
    /// `ip_local_port_range`). Another process may still take it, so the caller tries again with another port.
    public static func free() throws -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: 12_000..<32_000)
            if try isFree(port) { return port }
        }
        throw TestSupportError("no port between 12000 and 32000 is free on 127.0.0.1")
    }

    private static func isFree(_ port: UInt16) throws -> Bool {
        try withSocket(port) { bind($0, $1, $2) == 0 }
    }

    /// Returns whether a process accepts connections on the port.
    static func answers(_ port: UInt16) -> Bool {
        (try? withSocket(port) { connect($0, $1, $2) == 0 }) ?? false
    }

    /// Returns a socket that is connected to the port; the caller closes it.
    static func connected(_ port: UInt16) throws -> Int32 {
        var connected: Int32 = -1
        _ = try withSocket(port) { descriptor, address, size in
            guard connect(descriptor, address, size) == 0 else { return false }
            connected = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            return connected >= 0
        }
        guard connected >= 0 else { throw TestSupportError("nobody listens on port \(port)") }
        return connected
    }

    /// Returns a socket that listens on a port of the kernel's choice.
    static func listening() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw TestSupportError("no port to listen on") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Passes a new TCP socket, and the port's address on 127.0.0.1, to a closure.
    private static func withSocket(
        _ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestSupportError.system("socket", errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
