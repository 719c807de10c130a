import Glibc

/// An FTP server on loopback (RFC 959, RFC 2428, RFC 3659) that follows a test's script exactly, and otherwise behaves
/// correctly. Any user may log in; files are in memory, and every folder exists.
public final class FTPScriptServer: Sendable {
    /// The fault of one command.
    public enum Fault: Sendable, Equatable {
        /// The command is not executed, and this reply is sent; after 421 the connection ends.
        case reply(String)
        /// The command is not executed, and the connection ends.
        case hangUp
        /// The server reads this number of the file's bytes, resets the data connection and sends this reply; without a
        /// reply both connections end.
        case cut(after: Int64, reply: String?)
        /// The server reads this number of the file's bytes, and no more until the client disconnects.
        case stall(after: Int64)
        /// The command is executed, and this reply replaces the true one; without a reply both connections end.
        case misreport(String?)
        /// The server sends only this number of the file's bytes, ends the data connection normally, and reports
        /// success.
        case short(after: Int64)
    }

    struct State {
        var files: [String: [UInt8]] = [:]
        var scripts: [String: (faults: [Fault], afterwards: Fault?)] = [:]
        var commands: [String] = []
        /// The names under which complete files were stored, once for each time.
        var stored: [String] = []
        var sockets: [Int: Socket] = [:]
        var lastSocket = 0
        var threads: [pthread_t] = []
        var isStopping = false
        var ignoresOffsets = false
    }

    let state = Guarded(State())
    private let listener: Listener
    private let acceptThread = Guarded<pthread_t?>(nil)

    /// Starts to listen on a free port of 127.0.0.1.
    ///
    /// - Throws: ``TestServerError`` where the socket cannot be opened.
    public init() throws {
        listener = try Listener(.ipv4())
        let thread = try ServerThread.start { [self] in acceptConnections() }
        acceptThread.withLock { $0 = thread }
    }

    /// Returns the `ftp://` URL of an absolute path.
    public func url(_ path: String) -> String { "ftp://127.0.0.1:\(listener.port)\(path)" }

    /// The stored files by path, including incomplete ones.
    public var files: [String: [UInt8]] { state.withLock { $0.files } }

    /// Adds a file for downloads.
    public func serve(_ path: String, _ bytes: [UInt8]) { state.withLock { $0.files[path] = bytes } }

    /// Makes the server accept REST with 350 from now on, but send files from their beginning.
    public func ignoreOffsets() { state.withLock { $0.ignoresOffsets = true } }

    /// The commands received so far, in order, without their arguments.
    public var commands: [String] { state.withLock { $0.commands } }

    /// Sets a fault for each of the next commands with this name, then `afterwards` for all later ones. It replaces an
    /// earlier script for the name.
    public func script(_ command: String, _ faults: [Fault], afterwards: Fault? = nil) {
        state.withLock { $0.scripts[command] = (faults, afterwards) }
    }

    /// Ends all connections, and returns once all threads have ended.
    public func stop() {
        guard let thread = acceptThread.withLock({ $0.take() }) else { return }
        state.withLock { state in
            state.isStopping = true
            for socket in state.sockets.values { socket.shutdown() }
        }
        listener.socket.shutdown()
        pthread_join(thread, nil)
        for thread in state.withLock({ $0.threads }) { pthread_join(thread, nil) }
        listener.close()
    }

    /// Registers a socket that ``stop()`` must end.
    ///
    /// - Returns: `nil` where the server is stopping already.
    func enter(_ socket: Socket) -> Int? {
        state.withLock { state in
            guard !state.isStopping else { return nil }
            state.lastSocket += 1
            state.sockets[state.lastSocket] = socket
            return state.lastSocket
        }
    }

    func leave(_ number: Int) { state.withLock { _ = $0.sockets.removeValue(forKey: number) } }

    private func acceptConnections() {
        while let (socket, _) = listener.accept() {
            guard let number = enter(socket) else { return socket.close() }
            let thread = try? ServerThread.start { [self] in
                try? FTPSession(socket: socket, server: self).run()
                leave(number)
                socket.close()
            }
            if let thread { state.withLock { $0.threads.append(thread) } }
        }
    }
}
