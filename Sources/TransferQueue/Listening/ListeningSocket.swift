import CTransferLinux
import Glibc
package import TransferCore

/// A listening socket.
package struct ListeningSocket: Sendable {
    package let descriptor: Int32
    /// The actual address: for a port of 0, the kernel chooses one.
    package let address: ListenAddress

    private static let backlog: Int32 = 256

    /// Opens a socket.
    ///
    /// - Throws: `TransferError` with the reason why the address cannot be used.
    package init(_ address: ListenAddress) throws(TransferError) {
        self =
            switch address {
            case .loopback(let host, let port): try Self.open(host: host, port: port)
            case .unix(let path): try Self.open(path: path)
            case .inherited(let descriptor): ListeningSocket(descriptor, address)
            }
    }

    private init(_ descriptor: Int32, _ address: ListenAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    private static func open(host: String, port: Int) throws(TransferError) -> ListeningSocket {
        let isVersion6 = host.contains(":")
        let file = try Self.open(isVersion6 ? AF_INET6 : AF_INET)
        var on: Int32 = 1
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let result: Int32
        if isVersion6 {
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = in_port_t(port).bigEndian
            inet_pton(AF_INET6, host, &name.sin6_addr)
            result = Self.bind(file, &name)
        } else {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = in_port_t(port).bigEndian
            inet_pton(AF_INET, host, &name.sin_addr)
            result = Self.bind(file, &name)
        }
        guard result == 0, listen(file, Self.backlog) == 0 else {
            let number = errno
            close(file)
            throw Self.fault(ListenAddress.loopback(host, port: port), number, holder: PortHolder.words(port))
        }
        return ListeningSocket(file, .loopback(host, port: Self.port(of: file) ?? port))
    }

    /// Opens a Unix socket. The socket file of an ended service is removed; one with a listening process is not.
    private static func open(path: String) throws(TransferError) -> ListeningSocket {
        let address = ListenAddress.unix(path)
        let file = try Self.open(AF_UNIX)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { room in
            for (index, byte) in path.utf8.prefix(room.count - 1).enumerated() { room[index] = byte }
        }
        let probe = try Self.open(AF_UNIX)
        let isAnswered = Self.connect(probe, &name) == 0
        close(probe)
        if isAnswered {
            close(file)
            throw Self.fault(address, EADDRINUSE, holder: nil)
        }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
        // The file is accessible only to its user from the moment of its creation.
        let mask = umask(0o177)
        let result = Self.bind(file, &name)
        let number = errno
        umask(mask)
        guard result == 0, listen(file, Self.backlog) == 0 else {
            close(file)
            throw Self.fault(address, result == 0 ? errno : number, holder: nil)
        }
        return ListeningSocket(file, address)
    }

    /// The address by which clients reach the socket, also one that the service manager opened.
    package var reachable: ListenAddress {
        guard case .inherited(let descriptor) = address else { return address }
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return address }
        switch Int32(name.ss_family) {
        case AF_UNIX:
            let path = withUnsafeBytes(of: &name) { bytes in
                bytes.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
            }
            return path.isEmpty ? address : .unix(String(decoding: path, as: UTF8.self))
        case AF_INET, AF_INET6:
            guard let host = Self.host(&name, length), let port = Self.port(of: descriptor) else { return address }
            return .loopback(host, port: port)
        default: return address
        }
    }

    private static func host(_ name: inout sockaddr_storage, _ length: socklen_t) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getnameinfo($0, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            }
        }
        return result == 0
            ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Removes the socket file.
    package func removeFile() {
        if case .unix(let path) = address { unlink(path) }
    }

    private static func open(_ family: Int32) throws(TransferError) -> Int32 {
        let file = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else {
            throw TransferError(.cannotConnect, "no socket: \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        return file
    }

    private static func bind<Name>(_ file: Int32, _ name: inout Name) -> Int32 {
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(file, $0, socklen_t(MemoryLayout<Name>.size))
            }
        }
    }

    private static func connect<Name>(_ file: Int32, _ name: inout Name) -> Int32 {
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(file, $0, socklen_t(MemoryLayout<Name>.size))
            }
        }
    }

    private static func port(of file: Int32) -> Int? {
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
        }
        // Both address families have the port at the same offset.
        return result == 0 ? Int(in_port_t(bigEndian: name.sin6_port)) : nil
    }

    private static func fault(_ address: ListenAddress, _ number: Int32, holder: String?) -> TransferError {
        let reason = String(cString: strerror(number)).lowercasedFirst
        let who = holder.map { ": \($0) listens there" } ?? ""
        return TransferError(
            .cannotConnect, "cannot listen at \(address): \(reason)\(number == EADDRINUSE ? who : "")",
            cause: .os(errno: number))
    }
}
