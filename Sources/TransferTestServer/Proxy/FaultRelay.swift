import Glibc

/// A relay in front of a third-party server. It passes bytes on unchanged, until its script sets a fault.
///
/// The relay does not interpret the bytes, so the same faults work with every protocol over TCP.
public final class FaultRelay: Sendable {
    /// The fault of one connection.
    public enum Fault: Sendable, Equatable {
        /// Both sides are reset once the client has sent this number of bytes.
        case cut(after: Int64)
        /// The relay reads no more once the client has sent this number of bytes, until the connection is ended.
        case stall(after: Int64)
        /// The relay passes on no response once the client has sent this number of bytes; the server's next response
        /// ends both sides.
        case loseAnswer(after: Int64)
        /// Once the client has sent this number of bytes, the relay sends it these bytes and ends both sides.
        case answer(after: Int64, [UInt8])
    }

    private struct State {
        var script: [Fault] = []
        var countsFromFirstAnswer = false
        var answerDelay: UInt32 = 0
        var pairs: [Int: (client: Socket, server: Socket)] = [:]
        var threads: [pthread_t] = []
        var connections = 0
        var bytesUp: Int64 = 0
        var stalled = 0
        var isStopping = false
        var haltsAt: Int64?
        /// The connections that are about to be reset.
        var resets: Set<Int> = []

        /// The number of bytes that may still be sent to the server before the halt.
        var room: Int64 { haltsAt.map { max(0, $0 - bytesUp) } ?? .max }
    }

    private let listener: Listener
    private let target: Guarded<@Sendable () -> UInt16>
    private let translation = Guarded<(@Sendable ([UInt8]) -> [UInt8])?>(nil)
    private let state = Guarded(State())
    private let acceptThread = Guarded<pthread_t?>(nil)

    /// Starts a relay.
    ///
    /// - Parameter target: The server's port on 127.0.0.1.
    /// - Throws: ``TestServerError`` where the socket cannot be opened.
    public init(to target: UInt16) throws {
        self.target = Guarded({ target })
        listener = try Listener(.ipv4())
        // A small buffer makes the bytes sent by a client nearly equal to those that have passed the relay.
        listener.socket.setReceiveBuffer(64 << 10)
        let thread = try ServerThread.start { [self] in acceptConnections() }
        acceptThread.withLock { $0 = thread }
    }

    /// The port on 127.0.0.1 at which the relay listens.
    public var port: UInt16 { listener.port }

    /// Sets the server's port for later connections.
    public func aim(at port: UInt16) { target.withLock { $0 = { port } } }

    /// Sets a closure that returns the server's port for each later connection.
    public func aim(_ target: @escaping @Sendable () -> UInt16) { self.target.withLock { $0 = target } }

    /// Sets a closure that changes each piece of the server's data before it is passed on.
    public func translate(_ translation: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.translation.withLock { $0 = translation }
    }

    /// The number of bytes sent by clients to the server, over all connections.
    public var bytesUp: Int64 { state.withLock { $0.bytesUp } }
    /// The number of connections accepted so far.
    public var connectionCount: Int { state.withLock { $0.connections } }

    /// The number of connections that have reached a ``Fault/stall(after:)`` so far.
    public var stalledCount: Int { state.withLock { $0.stalled } }

    /// Sets faults, in the order in which connections reach them. A connection that carries fewer bytes than the next
    /// fault requires has no fault.
    ///
    /// - Parameter countsFromFirstAnswer: Whether the client's bytes are counted only from the server's first response
    ///   on. At most a mebibyte is passed on before, so that a slow server has not received everything by then.
    public func script(_ faults: [Fault], countsFromFirstAnswer: Bool = false) {
        state.withLock { state in
            state.script = faults
            state.countsFromFirstAnswer = countsFromFirstAnswer
        }
    }

    /// Delays each piece of the server's data, so that a test has time to end a connection before the client receives
    /// it.
    public func delayAnswers(milliseconds: UInt32) { state.withLock { $0.answerDelay = milliseconds } }

    /// Stops reading from all connections once clients have sent this number of bytes over all connections so far. The
    /// halted connections stay so until they are ended.
    ///
    /// - Parameter total: The number of bytes; `nil` for no halt.
    public func halt(at total: Int64?) { state.withLock { $0.haltsAt = total } }

    /// Whether the number of bytes for the halt has been reached.
    public var isHalted: Bool { state.withLock { $0.room == 0 } }

    /// Ends all connections.
    public func cutAll() {
        let pairs = state.withLock { Array($0.pairs.values) }
        for pair in pairs {
            pair.client.shutdown()
            pair.server.shutdown()
        }
    }

    /// Resets all connections, on both sides.
    public func resetAll() {
        state.withLock { state in
            for (number, pair) in state.pairs {
                state.resets.insert(number)
                // Only the connection's own thread notices this, since there is nothing more to read.
                Glibc.shutdown(pair.server.descriptor, Int32(SHUT_RD))
            }
        }
    }

    /// Ends all connections, and returns once all threads have ended.
    public func stop() {
        guard let thread = acceptThread.withLock({ $0.take() }) else { return }
        state.withLock { $0.isStopping = true }
        cutAll()
        listener.socket.shutdown()
        pthread_join(thread, nil)
        let threads = state.withLock { state in
            defer { state.threads = [] }
            return state.threads
        }
        for thread in threads { pthread_join(thread, nil) }
        listener.close()
    }

    private func acceptConnections() {
        while let (client, _) = listener.accept() {
            let find = target.withLock { $0 }
            guard let server = try? Socket.connect(toLoopback: find()) else {
                client.close()
                continue
            }
            let (number, waits) = state.withLock { state -> (Int, Bool) in
                state.connections += 1
                state.pairs[state.connections] = (client, server)
                return (state.connections, state.countsFromFirstAnswer)
            }
            if state.withLock({ $0.isStopping }) { cutAll() }
            do {
                let thread = try ServerThread.start { [self] in carry(number, client, server, waits) }
                state.withLock { $0.threads.append(thread) }
            } catch {
                client.close()
                server.close()
            }
        }
    }

    /// Carries both directions on one thread.
    private func carry(_ number: Int, _ client: Socket, _ server: Socket, _ waitsForAnswer: Bool) {
        defer {
            let isReset = state.withLock { state in
                state.pairs[number] = nil
                return state.resets.remove(number) != nil
            }
            if isReset { reset(client, server) }
            client.close()
            server.close()
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var up: Int64 = 0
        var uncounted = 0
        var isClientDone = false
        var isCounting = !waitsForAnswer
        while true {
            let isHeard = !isClientDone && !isHalted && (isCounting || uncounted < 1 << 20 || !hasFaults)
            var watched = [
                pollfd(fd: isHeard ? client.descriptor : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&watched, 2, -1) >= 0 || errno == EINTR else { return }
            if watched[1].revents != 0 {
                let count = recv(server.descriptor, buffer.baseAddress, buffer.count, 0)
                guard count > 0 else { return }
                isCounting = true
                let delay = state.withLock { $0.answerDelay }
                // The delay is the one that the test requested; the thread belongs to this connection alone.
                if delay > 0 { usleep(delay * 1000) }
                if case .loseAnswer = takeFault({ if case .loseAnswer(let limit) = $0 { up >= limit } else { false } })
                {
                    return reset(client, server)
                }
                let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                let sent: Void? =
                    if let translate = translation.withLock({ $0 }) {
                        translate(Array(piece)).withUnsafeBytes { try? client.send($0) }
                    } else {
                        try? client.send(piece)
                    }
                guard sent != nil else { return }
            }
            if watched[0].revents != 0 {
                let (limit, room) = state.withLock { ($0.script.first?.limit, $0.room) }
                let wanted = Int(min(Int64(buffer.count), room, limit.map { max(1, $0 - up) } ?? .max))
                // Another connection carried the last bytes before the halt.
                guard wanted > 0 else { continue }
                let count = recv(client.descriptor, buffer.baseAddress, wanted, 0)
                guard count > 0 else {
                    // The client has sent everything; the server may still send data.
                    isClientDone = true
                    Glibc.shutdown(server.descriptor, Int32(SHUT_WR))
                    if count < 0 { return }
                    continue
                }
                guard (try? server.send(UnsafeRawBufferPointer(rebasing: buffer[..<count]))) != nil else { return }
                state.withLock { $0.bytesUp += Int64(count) }
                guard isCounting else {
                    uncounted += count
                    continue
                }
                up += Int64(count)
                switch takeFault({ $0.limit.map { up >= $0 } ?? false }) {
                case .stall:
                    state.withLock { $0.stalled += 1 }
                    _ = client.waitForDeparture()
                    return
                case .cut: return reset(client, server)
                case .answer(_, let bytes):
                    _ = bytes.withUnsafeBytes { try? client.send($0) }
                    client.lingeringClose()
                    return
                case nil, .loseAnswer: break
                }
            }
        }
    }

    private var hasFaults: Bool { state.withLock { !$0.script.isEmpty } }

    /// Returns the next fault if its condition is met.
    private func takeFault(_ isDue: (Fault) -> Bool) -> Fault? {
        state.withLock { state in
            guard let next = state.script.first, isDue(next) else { return nil }
            return state.script.removeFirst()
        }
    }

    /// Resets both sides. Data in transit still reaches the server; the client is reset at once.
    private func reset(_ client: Socket, _ server: Socket) {
        client.resetOnClose()
        server.resetOnClose()
    }
}

extension FaultRelay.Fault {
    fileprivate var limit: Int64? {
        switch self {
        case .loseAnswer: nil
        case .cut(let limit), .stall(let limit), .answer(let limit, _): limit
        }
    }
}

extension Socket {
    /// Sets the size of the receive buffer, which accepted connections inherit.
    fileprivate func setReceiveBuffer(_ bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    fileprivate static func connect(toLoopback port: UInt16) throws -> Socket {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestServerError("socket") }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            Glibc.close(descriptor)
            throw TestServerError("connect")
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return Socket(descriptor: descriptor)
    }
}
