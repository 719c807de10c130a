import Glibc

/// An FTP server on loopback (RFC 959, RFC 2428, RFC 3659) that does exactly what a test's script says, and correctly
/// what the script doesn't mention. Everybody may log in; files are in memory, and every folder is there.
public final class FTPScriptServer: Sendable {
    /// The fate of one command.
    public enum Fault: Sendable, Equatable {
        /// The command isn't done, and this reply is sent; after 421 the connection ends.
        case reply(String)
        /// Nothing is done, and the connection ends.
        case hangUp
        /// The server takes so many bytes of the file, resets the data connection and sends this reply; without a
        /// reply both connections end.
        case cut(after: Int64, reply: String?)
        /// The server takes so many bytes of the file, and no more until the client leaves.
        case stall(after: Int64)
        /// The command is done, and this reply is sent in place of the true one; without a reply both connections end.
        case misreport(String?)
        /// The server sends only so many bytes of the file, ends the data connection in order, and says that all went well.
        case short(after: Int64)
    }

    struct State {
        var files: [String: [UInt8]] = [:]
        var scripts: [String: (faults: [Fault], afterwards: Fault?)] = [:]
        var commands: [String] = []
        /// Names under which a file was stored whole, each time.
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

    public init() throws {
        listener = try Listener(.ipv4())
        let thread = try ServerThread.start { [self] in acceptConnections() }
        acceptThread.withLock { $0 = thread }
    }

    public func url(_ path: String) -> String { "ftp://127.0.0.1:\(listener.port)\(path)" }

    /// The stored files by path, cut ones too.
    public var files: [String: [UInt8]] { state.withLock { $0.files } }

    /// Puts a file there, to be fetched.
    public func serve(_ path: String, _ bytes: [UInt8]) { state.withLock { $0.files[path] = bytes } }

    /// Says 350 to REST from now on, and sends files from their beginning all the same.
    public func ignoreOffsets() { state.withLock { $0.ignoresOffsets = true } }

    /// Each command that came, in order, without its argument.
    public var commands: [String] { state.withLock { $0.commands } }

    /// A fault for each of the next commands of that name, then `afterwards` for each; takes the place of what was
    /// scripted for it.
    public func script(_ command: String, _ faults: [Fault], afterwards: Fault? = nil) {
        state.withLock { $0.scripts[command] = (faults, afterwards) }
    }

    /// Ends every connection and returns when every thread has ended.
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

    /// Remembers a socket that ``stop()`` has to end.
    ///
    /// - Returns: `nil` where everything ends already.
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
