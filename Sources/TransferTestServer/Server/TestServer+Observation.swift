import Glibc

// The observation of the server.
extension TestServer {
    /// All requests so far, in the order in which their heads arrived.
    public var requests: [RecordedRequest] { read(\.requests) }

    /// Returns all requests to a path so far, in the order in which their heads arrived.
    public func requests(to path: String) -> [RecordedRequest] {
        let key = ResourceKey.normalized(path)
        return requests.filter { ResourceKey.matches(key, $0.head) }
    }

    /// Returns the number of response body bytes for all requests to a path.
    public func bytesSent(_ path: String) -> Int64 { requests(to: path).reduce(0) { $0 + $1.bytesSent } }

    /// The number of connections accepted since the start.
    public var connectionCount: Int { read(\.traffic.acceptedConnections) }
    /// The number of connections that are open now.
    public var openConnections: Int { read(\.connections.count) }
    /// The maximum number of connections open at one time.
    public var peakConnections: Int { read(\.traffic.peakConnections) }

    /// The maximum number of requests between the head and the end of their response at one time.
    public var peakRequests: Int { read(\.traffic.peakRequests) }
    /// Returns the maximum number of simultaneous requests to a path.
    public func peakRequests(_ path: String) -> Int { read { $0.traffic.peak[path] ?? 0 } }
}

// The waits, which do not sleep. Each throws ``TestServerError`` on a timeout, and `CancellationError`.
extension TestServer {
    /// Waits until the heads of this number of requests have arrived since the start, of one path if it is named.
    ///
    /// - Throws: ``TestServerError`` on a timeout, `CancellationError`.
    public func waitForRequests(_ count: Int, to path: String? = nil, timeout: Duration = .seconds(30)) async throws {
        let key = path.map(ResourceKey.normalized)
        try await wait("\(count) requests", timeout) { state in
            guard let key else { return state.requests.count >= count }
            return state.requests.lazy.filter { ResourceKey.matches(key, $0.head) }.count >= count
        }
    }

    /// Waits until this number of requests has been answered, or ended by a fault.
    ///
    /// - Throws: ``TestServerError`` on a timeout, `CancellationError`.
    public func waitForAnswers(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) answers", timeout) { $0.requests.lazy.filter(\.isFinished).count >= count }
    }

    /// Waits until this number of connections has been accepted since the start.
    ///
    /// - Throws: ``TestServerError`` on a timeout, `CancellationError`.
    public func waitForConnections(accepted count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) connections", timeout) { $0.traffic.acceptedConnections >= count }
    }

    /// Waits until this number of connections has been closed since the start.
    ///
    /// - Throws: ``TestServerError`` on a timeout, `CancellationError`.
    public func waitForConnections(closed count: Int, timeout: Duration = .seconds(30)) async throws {
        try await wait("\(count) closed connections", timeout) { $0.traffic.closedConnections >= count }
    }

    /// Waits until this number of requests is held by a stall or a held head.
    ///
    /// - Throws: ``TestServerError`` on a timeout, `CancellationError`.
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
        // The sleep is the limit of the wait and not the wait itself: a test that waits in vain fails instead of
        // hanging.
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
                // The task may have been cancelled before there was a continuation.
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

// The control of stalls and held heads.
extension TestServer {
    /// Releases all requests that have begun, of one path if it is named.
    ///
    /// A request that has not reached its stall yet passes it: a client sees bytes before the server's thread comes to
    /// the stall after them. A request that begins afterwards is held as its script says.
    public func release(_ path: String? = nil) {
        let key = path.map(ResourceKey.normalized)
        update { $0.release { head in key.map { ResourceKey.matches($0, head) } ?? true } }
    }

    /// Holds a request.
    ///
    /// - Throws: ``ConnectionEnded`` where the client disconnects, or the server stops.
    func hold(_ head: RequestHead, connection: Int, socket: Socket) throws {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            throw ConnectionEnded()
        }
        let wake = Socket(descriptor: pair[0])
        defer { for descriptor in pair { close(descriptor) } }
        guard update({ $0.hold(.init(wake: wake, head: head), connection) }) else { return }
        let departure = socket.waitForDeparture(wake: pair[1])
        update { $0.held[connection] = nil }
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
