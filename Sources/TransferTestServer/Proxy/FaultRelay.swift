import Glibc

/// A relay in front of a server that isn't ours: it passes bytes on as they are, until its script says otherwise.
///
/// It knows nothing of what it carries, so the same faults can be had with every protocol over TCP.
public final class FaultRelay: Sendable {
    /// What becomes of one connection.
    public enum Fault: Sendable, Equatable {
        /// Both sides are reset once so many bytes have gone up.
        case cut(after: Int64)
        /// Once so many bytes have gone up, no more are taken, until somebody ends the connection.
        case stall(after: Int64)
        /// Once so many bytes have gone up, nothing comes down any more: what the server answers ends both sides.
        case loseAnswer(after: Int64)
        /// Once so many bytes have gone up, the client is given these bytes, and both sides end.
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
        /// Connections that are about to be reset.
        var resets: Set<Int> = []

        /// Bytes that may still go up before the halt.
        var room: Int64 { haltsAt.map { max(0, $0 - bytesUp) } ?? .max }
    }

    private let listener: Listener
    private let target: Guarded<@Sendable () -> UInt16>
    private let translation = Guarded<(@Sendable ([UInt8]) -> [UInt8])?>(nil)
    private let state = Guarded(State())
    private let acceptThread = Guarded<pthread_t?>(nil)

    /// - Parameter target: A port of 127.0.0.1.
    public init(to target: UInt16) throws {
        self.target = Guarded({ target })
        listener = try Listener(.ipv4())
        // What a client has sent is what has come through, and not what the kernel keeps for it.
        listener.socket.setReceiveBuffer(64 << 10)
        let thread = try ServerThread.start { [self] in acceptConnections() }
        acceptThread.withLock { $0 = thread }
    }

    public var port: UInt16 { listener.port }

    /// Where connections lead that come from now on.
    public func aim(at port: UInt16) { target.withLock { $0 = { port } } }

    /// Where connections lead is asked anew for each that comes from now on.
    public func aim(_ target: @escaping @Sendable () -> UInt16) { self.target.withLock { $0 = target } }

    /// What comes down is what this makes of each piece that the server sent.
    public func translate(_ translation: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.translation.withLock { $0 = translation }
    }

    /// From clients to the server, over all connections.
    public var bytesUp: Int64 { state.withLock { $0.bytesUp } }
    public var connectionCount: Int { state.withLock { $0.connections } }

    /// Connections that have come to a ``Fault/stall(after:)`` so far.
    public var stalledCount: Int { state.withLock { $0.stalled } }

    /// Faults, in the order in which connections come to them: one that never carries as many bytes as the next fault
    /// wants is left alone.
    ///
    /// - Parameter countsFromFirstAnswer: The bytes up are counted from when something has come down, and a mebibyte is all
    ///   that goes up before: a server that is slow to answer hasn't everything by then.
    public func script(_ faults: [Fault], countsFromFirstAnswer: Bool = false) {
        state.withLock { state in
            state.script = faults
            state.countsFromFirstAnswer = countsFromFirstAnswer
        }
    }

    /// What comes down is held back for so long, a piece after the other: time to end a connection before it's heard.
    public func delayAnswers(milliseconds: UInt32) { state.withLock { $0.answerDelay = milliseconds } }

    /// Once so many bytes have gone up over all connections so far, nothing more is taken of any. Those that were halted
    /// stay so until they are ended.
    ///
    /// - Parameter total: `nil` for no halt.
    public func halt(at total: Int64?) { state.withLock { $0.haltsAt = total } }

    /// Whether it has come to that.
    public var isHalted: Bool { state.withLock { $0.room == 0 } }

    /// Ends every connection.
    public func cutAll() {
        let pairs = state.withLock { Array($0.pairs.values) }
        for pair in pairs {
            pair.client.shutdown()
            pair.server.shutdown()
        }
    }

    /// Resets every connection, both sides of it.
    public func resetAll() {
        state.withLock { state in
            for (number, pair) in state.pairs {
                state.resets.insert(number)
                // Nobody but the thread that carries it notices: there is nothing more to read.
                Glibc.shutdown(pair.server.descriptor, Int32(SHUT_RD))
            }
        }
    }

    /// Ends every connection and returns when every thread has ended.
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

    /// Both directions, on one thread.
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
                // The delay is what was asked for; the thread is this connection's own.
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
                // What another connection carried was the last before the halt.
                guard wanted > 0 else { continue }
                let count = recv(client.descriptor, buffer.baseAddress, wanted, 0)
                guard count > 0 else {
                    // The client has said everything; the server may not have.
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

    /// The next fault, if its time has come.
    private func takeFault(_ isDue: (Fault) -> Bool) -> Fault? {
        state.withLock { state in
            guard let next = state.script.first, isDue(next) else { return nil }
            return state.script.removeFirst()
        }
    }

    /// What is on its way to the server arrives; the client is told at once.
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
    /// Connections that are accepted have it too.
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
