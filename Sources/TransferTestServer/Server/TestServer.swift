import Glibc

/// An HTTP/1.1 server on loopback that follows a test's script exactly, and otherwise behaves correctly.
///
/// The server also answers absolute targets itself, so that a client with `http_proxy` set to it reaches any host name.
/// Stop it with ``stop()``, or use ``withTestServer(on:isolation:prepare:_:)``.
public final class TestServer: Sendable {
    private let listener: Listener
    private let state = Guarded(ServerState())
    private let acceptThread = Guarded<pthread_t?>(nil)

    /// Starts to listen at once.
    ///
    /// - Parameter prepare: A closure that is called before the first connection is accepted.
    /// - Throws: ``TestServerError`` where the address cannot be used.
    public init(on address: ListenAddress = .ipv4(), prepare: (TestServer) -> Void = { _ in }) throws {
        listener = try Listener(address)
        prepare(self)
        do {
            let thread = try ServerThread.start { [self] in acceptConnections() }
            acceptThread.withLock { $0 = thread }
        } catch {
            listener.close()
            throw error
        }
    }

    /// The port; 0 for a Unix socket.
    public var port: UInt16 { listener.port }

    /// Returns the URL of a path: `http://127.0.0.1:PORT/x` for `/x`.
    public func url(_ path: String = "/") -> String {
        switch listener.address {
        case .ipv4: "http://127.0.0.1:\(port)\(path)"
        case .ipv6: "http://[::1]:\(port)\(path)"
        case .unix: "http://localhost\(path)"
        }
    }

    /// Limits the number of bytes that later connections accept before the server reads them; the value is approximate.
    public func limitReceiveBuffer(_ bytes: Int) { listener.limitReceiveBuffer(Int32(clamping: bytes)) }

    /// Ends all connections, and returns once all threads have ended. A handler must not call it.
    public func stop() {
        guard let thread = acceptThread.withLock({ $0.take() }) else { return }
        update { state in
            state.isStopping = true
            for socket in state.connections.values { socket.shutdown() }
        }
        listener.socket.shutdown()
        pthread_join(thread, nil)
        for thread in update({ $0.takeThreads() }) { pthread_join(thread, nil) }
        listener.close()
    }

    private func acceptConnections() {
        while let (socket, peer) = listener.accept() {
            let number: Int? = update { state in
                guard !state.isStopping else { return nil }
                let number = state.traffic.accept(open: state.connections.count + 1)
                state.connections[number] = socket
                return number
            }
            guard let number else {
                close(socket.descriptor)
                return
            }
            do {
                let thread = try ServerThread.start { [self] in
                    Connection(number: number, socket: socket, peer: peer, server: self).run()
                    end(number, socket)
                }
                update { $0.threads[number] = thread }
            } catch {
                end(number, socket)
            }
            for thread in update({ $0.takeEndedThreads() }) { pthread_join(thread, nil) }
        }
    }

    private func end(_ number: Int, _ socket: Socket) {
        // The connection leaves the table before its descriptor can be reused, so that stop() never shuts down an
        // unrelated one.
        update { $0.connections[number] = nil }
        socket.close()
        update { state in
            state.traffic.close()
            state.endedThreads.append(number)
        }
    }

    /// Changes the state and resumes the callers that wait for such a change. All changes must go through this
    /// function.
    @discardableResult
    func update<Result: Sendable>(_ change: (inout ServerState) -> Result) -> Result {
        let (result, waiters) = state.withLock { state in (change(&state), state.takeSatisfiedWaiters()) }
        for waiter in waiters { waiter.continuation.resume() }
        return result
    }

    func read<Result: Sendable>(_ look: (ServerState) -> Result) -> Result {
        state.withLock { look($0) }
    }
}

extension ServerState {
    fileprivate mutating func takeThreads() -> [pthread_t] {
        defer { threads = [:] }
        return Array(threads.values)
    }

    /// Returns the ended threads that are in the table. A thread may end before the accepting thread has entered it.
    fileprivate mutating func takeEndedThreads() -> [pthread_t] {
        let ended = endedThreads.filter { threads[$0] != nil }
        endedThreads.removeAll { threads[$0] != nil }
        return ended.compactMap { threads.removeValue(forKey: $0) }
    }
}

/// Runs `body` with a server, and stops the server at the end.
///
/// - Throws: ``TestServerError`` where the server cannot be started; the errors of `body`.
public func withTestServer<Result>(
    on address: ListenAddress = .ipv4(), isolation: isolated (any Actor)? = #isolation,
    prepare: (TestServer) -> Void = { _ in }, _ body: (TestServer) async throws -> Result
) async throws -> Result {
    let server = try TestServer(on: address, prepare: prepare)
    defer { server.stop() }
    return try await body(server)
}
