import Glibc

/// The address of a ``TestServer``.
public enum ListenAddress: Sendable, Hashable {
    /// The address 127.0.0.1; port 0 selects a free one.
    case ipv4(port: UInt16 = 0)
    /// The address ::1; port 0 selects a free one.
    case ipv6(port: UInt16 = 0)
    /// A socket file, which is removed when the server stops. Paths have at most 107 bytes.
    case unix(path: String)
}

struct Listener: Sendable {
    let socket: Socket
    let address: ListenAddress
    let port: UInt16

    init(_ address: ListenAddress) throws {
        let family =
            switch address {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case .unix: AF_UNIX
            }
        // The flag close-on-exec is needed: a child process with the socket would keep a "closed" connection open.
        let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestServerError("socket") }
        do {
            try Self.bind(descriptor, to: address)
            guard listen(descriptor, 1024) == 0 else { throw TestServerError("listen") }
            port = try Self.port(of: descriptor, address)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        socket = Socket(descriptor: descriptor)
        self.address = address
    }

    /// Limits the receive buffer. The kernel takes twice the size, and announces about half of that as its window
    /// (socket(7), tcp(7)).
    func limitReceiveBuffer(_ bytes: Int32) {
        var bytes = bytes
        setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Accepts a connection.
    ///
    /// - Returns: `nil` once the listener is shut down.
    func accept() -> (Socket, peer: String)? {
        while true {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let descriptor = withUnsafeMutablePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(socket.descriptor, $0, &length) }
            }
            if descriptor < 0 {
                // A client that left between handshake and accept, or a signal, is no reason to stop.
                if errno == ECONNABORTED || errno == EINTR { continue }
                return nil
            }
            // The function accept4 is not in Glibc's module. A child started in between is harmless, because closing
            // shuts down first.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var on: Int32 = 1
            // A head and a first piece that are sent separately must not wait for acknowledgements.
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            return (Socket(descriptor: descriptor), Self.text(of: storage))
        }
    }

    func close() {
        Glibc.close(socket.descriptor)
        if case .unix(let path) = address { unlink(path) }
    }

    private static func bind(_ descriptor: Int32, to address: ListenAddress) throws {
        switch address {
        case .ipv4(let port):
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            try bind(descriptor, to: &name)
        case .ipv6(let port):
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            name.sin6_addr = in6addr_loopback
            try bind(descriptor, to: &name)
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let capacity = MemoryLayout.size(ofValue: name.sun_path)
            guard path.utf8.count < capacity else {
                errno = ENAMETOOLONG
                throw TestServerError("bind \(path)")
            }
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            try bind(descriptor, to: &name)
        }
    }

    private static func bind<Name>(_ descriptor: Int32, to name: inout Name) throws {
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let length = socklen_t(MemoryLayout<Name>.size)
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw TestServerError("bind") }
    }

    private static func port(of descriptor: Int32, _ address: ListenAddress) throws -> UInt16 {
        if case .unix = address { return 0 }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw TestServerError("getsockname") }
        return port(in: storage)
    }

    /// Returns the port, which is at the same offset for both address families.
    private static func port(in storage: sockaddr_storage) -> UInt16 {
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    private static func text(of storage: sockaddr_storage) -> String {
        switch Int32(storage.ss_family) {
        case AF_INET: "127.0.0.1:\(port(in: storage))"
        case AF_INET6: "[::1]:\(port(in: storage))"
        default: "unix"
        }
    }
}
