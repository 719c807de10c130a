public import TransferCore

/// The address of a service, on this machine only; a reverse proxy provides access from the network.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A loopback address.
    case loopback(String, port: Int)
    /// The path of a socket file.
    case unix(String)
    /// The socket that the service manager opened (sd_listen_fds(3)).
    case inherited(Int32)

    /// The default address: aria2's port, which its clients use.
    public static let standard = ListenAddress.loopback("127.0.0.1", port: 6800)

    /// Parses an address.
    ///
    /// - Parameter text: A text of the form `HOST:PORT`, `PORT` or `unix:PATH`.
    /// - Throws: `TransferError` with the fault of the text.
    public init(_ text: String) throws(TransferError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard path.hasPrefix("/") else { throw Self.fault("\(text): the path of a socket is absolute") }
            // The field sun_path has 108 bytes (unix(7)).
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

    /// The address as a URL, or in the form of a socket's path.
    public var description: String {
        switch self {
        case .loopback(let host, let port): "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .inherited(let descriptor): "the socket \(descriptor) of the service's manager"
        }
    }

    /// Whether every user of this machine can connect.
    public var isOpenToMachine: Bool {
        if case .unix = self { false } else { true }
    }
}
