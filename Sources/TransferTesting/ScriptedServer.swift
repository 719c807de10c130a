import TransferTestServer

/// An HTTP/1.1 server on loopback that does exactly what a test's script says, and correctly what it doesn't mention.
public final class ScriptedServer: Sendable {
    private let server: TestServer

    /// Starts to listen at once, on a free port of 127.0.0.1.
    public init() throws { server = try TestServer() }

    /// `http://127.0.0.1:PORT/x` for `/x`.
    public func url(_ path: String = "/") -> String { server.url(path) }

    /// Ends every connection, and returns when that is done.
    public func stop() { server.stop() }
}
