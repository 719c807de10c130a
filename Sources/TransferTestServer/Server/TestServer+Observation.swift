import Glibc

// Looking at the server.
extension TestServer {
    /// Every request so far, in the order in which their heads arrived.
    public var requests: [RecordedRequest] { read(\.requests) }

    public func requests(to path: String) -> [RecordedRequest] {
        let key = ResourceKey.normalized(path)
        return requests.filter { ResourceKey.matches(key, $0.head) }
    }

    /// Response body bytes, of all requests of a path.
    public func bytesSent(_ path: String) -> Int64 { requests(to: path).reduce(0) { $0 + $1.bytesSent } }

    /// Connections accepted since the start.
    public var connectionCount: Int { read(\.traffic.acceptedConnections) }
    public var openConnections: Int { read(\.connections.count) }
    public var peakConnections: Int { read(\.traffic.peakConnections) }

    /// The most requests that were between head and end of their answer at one time.
    public var peakRequests: Int { read(\.traffic.peakRequests) }
    public func peakRequests(_ path: String) -> Int { read { $0.traffic.peak[path] ?? 0 } }
}

// Waiting without sleeping. Each throws ``TestServerError`` when the time is over, and `CancellationError`.
extension TestServer {
    /// Until the heads of so many requests arrived (since the start; of one path if that is named).
    public func waitForRequests(_ count: Int, to path: String? = nil, timeout: Duration = .seconds(30)) async throws {
        let key = path.map(ResourceKey.normalized)
        try await wait("\(count) requests", timeout) { state in
            guard let key else { return state.requests.count >= count }
            return state.requests.lazy.filter { ResourceKey.matches(key, $0.head) }.count >= count
        }
    }

    /// Until so many requests were answered, or ended by a fault.
    public func waitForAnswers(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) answers", timeout) { $0.requests.lazy.filter(\.isFinished).count >= count }
    }

    public func waitForConnections(accepted count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) connections", timeout) { $0.traffic.acceptedConnections >= count }
    }

    public func waitForConnections(closed count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) closed connections", timeout) { $0.traffic.closedConnections >= count }
    }

    /// Until so many requests are held by a stall or a held head.
    public func waitForHeld(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) held requests", timeout) { $0.held.count >= count }
    }

    private func wait(
        _ what: String, _ timeout: Duration, until isSatisfied: @escaping @Sendable (ServerState) -> Bool
    ) async throws {
        let number = update { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        // Not a wait for the event but its limit: a test that waits in vain fails instead of hanging.
        let deadline = Task { [self] in
            try await Task.sleep(for: timeout)
            fail(number) { TestServerError(timeout: timeout, waitingFor: what, seen: $0.summary) }
        }
        defer { deadline.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                update { state in
                    state.waiters[number] = .init(what: what, isSatisfied: isSatisfied, continuation: continuation)
                }
                // Cancellation may have come before there was a continuation to fail.
                if Task.isCancelled { fail(number) { _ in CancellationError() } }
            }
        } onCancel: {
            fail(number) { _ in CancellationError() }
        }
    }

    private func fail(_ number: Int, _ error: (ServerState) -> any Error) {
        let failure = update { state in
            state.waiters.removeValue(forKey: number).map { ($0.continuation, error(state)) }
        }
        failure.map { $0.resume(throwing: $1) }
    }
}

// Stalls and held heads.
extension TestServer {
    /// Lets every request go on that is held now (of one path if that is named).
    public func release(_ path: String? = nil) {
        let key = path.map(ResourceKey.normalized)
        update { state in
            for held in state.held.values where key.map({ ResourceKey.matches($0, held.head) }) ?? true {
                held.wake.shutdown()
            }
        }
    }

    /// - Throws: ``ConnectionEnded`` when the client left, or the server stops.
    func hold(_ head: RequestHead, connection: Int, socket: Socket) throws {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            throw ConnectionEnded()
        }
        let wake = Socket(descriptor: pair[0])
        update { $0.held[connection] = .init(wake: wake, head: head) }
        let departure = socket.waitForDeparture(wake: pair[1])
        update { $0.held[connection] = nil }
        for descriptor in pair { close(descriptor) }
        if case .left = departure { throw ConnectionEnded() }
    }
}

extension ServerState {
    fileprivate var summary: String {
        let answered = requests.lazy.filter(\.isFinished).count
        return "\(requests.count) requests (\(answered) ended, \(held.count) held), "
            + "\(traffic.acceptedConnections) connections (\(traffic.closedConnections) closed)"
    }
}
