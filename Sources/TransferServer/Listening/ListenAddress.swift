public import TransferQueue

/// The place where a service is reached: on this machine only. The network is a reverse proxy's.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A loopback address.
    case loopback(String, port: Int)
    /// The path of a socket file.
    case unix(String)
    /// The socket that the service's manager opened (sd_listen_fds(3)).
    case inherited(Int32)

    /// aria2's port, which its clients know.
    public static let standard = ListenAddress.loopback("127.0.0.1", port: 6800)

    /// - Parameter text: `HOST:PORT`, `PORT` or `unix:PATH`.
    /// - Throws: `TransferError` that says what is wrong with the text.
    public init(_ text: String) throws(TransferError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard path.hasPrefix("/") else { throw Self.fault("\(text): the path of a socket is absolute") }
            // sun_path has 108 bytes (unix(7)).
            guard path.utf8.count < 108 else { throw Self.fault("\(path) is too long for a socket's name") }
            self = .unix(path)
            return
        }
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        guard let port = UInt16(digits), digits.first != "+" else {
            throw Self.fault("\(text) is no address to listen at: 127.0.0.1:6800 or unix:/run/… is one")
        }
        let host = colon.map { text[..<$0] } ?? "127.0.0.1"
        let name = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        let address = name == "localhost" ? "127.0.0.1" : String(name)
        guard IPAddress(address)?.isLoopback == true else {
            throw Self.fault(
                "\(text) is not an address of this machine alone: listen at 127.0.0.1 or a Unix socket, and have a "
                    + "reverse proxy with TLS before it")
        }
        self = .loopback(address, port: Int(port))
    }

    private static func fault(_ message: String) -> TransferError { TransferError(.invalidRequest, message) }

    public var description: String {
        switch self {
        case .loopback(let host, let port): "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .inherited(let descriptor): "the socket \(descriptor) of the service's manager"
        }
    }

    /// Whether everybody on this machine can connect.
    public var isOpenToMachine: Bool {
        if case .unix = self { false } else { true }
    }
}
