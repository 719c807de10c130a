import TransferTestServer

// The requests that the server received.
extension ScriptedServer {
    /// The requests so far without their bodies, in the order in which their heads arrived.
    public var requests: [ReceivedRequest] { server.requests.map(ReceivedRequest.init) }

    /// Returns the requests of one path.
    public func requests(to path: String) -> [ReceivedRequest] { server.requests(to: path).map(ReceivedRequest.init) }

    /// Returns the number of bytes of bodies that were sent for a path. Bytes that a program fetched repeatedly count
    /// each time.
    public func bytesSent(_ path: String) -> Int64 { server.bytesSent(path) }

    /// The number of accepted connections.
    public var connectionCount: Int { server.connectionCount }

    /// The highest number of simultaneous requests.
    public var peakRequests: Int { server.peakRequests }
}

// Waits for requests without sleeping.
extension ScriptedServer {
    /// Returns when the heads of a number of requests have arrived since the start.
    ///
    /// - Parameters:
    ///   - count: The number of requests.
    ///   - path: The path whose requests are counted; `nil` counts all.
    ///   - timeout: The longest wait, after which a test fails.
    /// - Throws: An error with the requests so far when the time is over; `CancellationError`.
    public func waitForRequests(_ count: Int, to path: String? = nil, timeout: Duration = .seconds(30)) async throws {
        try await server.waitForRequests(count, to: path, timeout: timeout)
    }

    /// Returns when a number of requests were answered, or ended by a fault.
    ///
    /// - Throws: The errors of ``waitForRequests(_:to:timeout:)``.
    public func waitForAnswers(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await server.waitForAnswers(count, timeout: timeout)
    }

    /// Returns when a ``ServerFault/stall(after:)`` or a ``ServerFault/holdHead`` holds a number of requests. At that
    /// moment a test can kill a program, cancel a job, or call ``release(_:)``.
    ///
    /// - Throws: The errors of ``waitForRequests(_:to:timeout:)``.
    public func waitForHeld(_ count: Int, timeout: Duration = .seconds(30)) async throws {
        try await server.waitForHeld(count, timeout: timeout)
    }
}
