import TransferTestServer

// What was asked of it.
extension ScriptedServer {
    /// Every request so far, in the order in which their heads arrived; without their bodies.
    public var requests: [ReceivedRequest] { server.requests.map(ReceivedRequest.init) }

    /// The requests of one path.
    public func requests(to path: String) -> [ReceivedRequest] { server.requests(to: path).map(ReceivedRequest.init) }

    /// How many bytes of bodies were sent for a path, all requests together: what a program fetched again is in it.
    public func bytesSent(_ path: String) -> Int64 { server.bytesSent(path) }

    /// How many connections were accepted.
    public var connectionCount: Int { server.connectionCount }

    /// The most requests that were under way at one time.
    public var peakRequests: Int { server.peakRequests }
}

// Waiting for it, without sleeping.
extension ScriptedServer {
    /// Returns when the heads of so many requests have arrived since the start.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - path: Counts those of one path; `nil` counts all.
    ///   - timeout: A test that waits in vain fails after it.
    /// - Throws: When the time is over, an error that says what came; `CancellationError`.
    public func waitForRequests(_ count: Int, to path: String? = nil, timeout: Duration = .seconds(30)) async throws {
        try await server.waitForRequests(count, to: path, timeout: timeout)
    }

    /// Returns when so many requests were answered, or ended by a fault.
    ///
    /// - Throws: As ``waitForRequests(_:to:timeout:)``.
    public func waitForAnswers(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await server.waitForAnswers(count, timeout: timeout)
    }

    /// Returns when so many requests are held by a ``ServerFault/stall(after:)`` or a ``ServerFault/holdHead``: the moment
    /// to kill a program, to cancel a job, or to ``release(_:)``.
    ///
    /// - Throws: As ``waitForRequests(_:to:timeout:)``.
    public func waitForHeld(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await server.waitForHeld(count, timeout: timeout)
    }
}
