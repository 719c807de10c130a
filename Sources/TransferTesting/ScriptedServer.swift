import TransferTestServer

/// An HTTP/1.1 server on loopback for the tests of programs. Its faults follow a script exactly; everything else is
/// answered correctly.
///
/// Ranges, validators and conditional requests are handled by RFC 9110. Each server has a free port of its own, so that
/// tests can run in parallel. ``stop()`` ends the server, and ``withScriptedServer(isolation:_:)`` does so
/// automatically.
///
/// ```swift
/// let server = try ScriptedServer()
/// server.serve("/x.iso", .random(count: 1_000_000))
/// server.script("/x.iso", [.status(503), .cut(after: 500_000)])
/// // … the program fetches server.url("/x.iso") …
/// server.stop()
/// ```
public final class ScriptedServer: Sendable {
    let server: TestServer

    /// Starts to listen at once, on a free port of 127.0.0.1.
    ///
    /// - Throws: An error that names the failed call, when there is no port or no descriptor left.
    public init() throws { server = try TestServer() }

    /// The port on which the server listens.
    public var port: Int { Int(server.port) }

    /// Returns the URL of a path.
    ///
    /// - Parameter path: The path, such as `/x`, perhaps with a query.
    /// - Returns: The URL, such as `http://127.0.0.1:PORT/x`.
    public func url(_ path: String = "/") -> String { server.url(path) }

    /// Ends every connection, and returns when all have ended. Must not be called by a handler.
    public func stop() { server.stop() }

    // MARK: Content

    /// Serves a file for GET and HEAD; an earlier file of that path is replaced.
    ///
    /// - Parameters:
    ///   - path: The path, such as `/x`. A path with a query is served for that query alone.
    ///   - body: The bytes of the file.
    ///   - etag: The validator with its quotes, and with `W/` for a weak one; `nil` sends none. A partial download can
    ///     only be continued with a strong validator.
    ///   - contentType: The media type; `nil` sends none.
    ///   - acceptsRanges: Whether Range is respected; `false` always sends the whole file.
    ///   - headers: The further header fields of each response.
    public func serve(
        _ path: String, _ body: ServedBody, etag: String? = "\"1\"",
        contentType: String? = "application/octet-stream", acceptsRanges: Bool = true, headers: [String: String] = [:]
    ) {
        server.serve(
            path,
            ServedFile(
                body.content, etag: etag, contentType: contentType, acceptsRanges: acceptsRanges,
                headers: HeaderFields(headers)))
    }

    /// Removes a path, which is answered by 404 from now on.
    public func remove(_ path: String) { server.remove(path) }

    /// Answers requests by a function of the test.
    ///
    /// - Parameters:
    ///   - method: The method of the requests; `nil` for any.
    ///   - path: The path, which may end in `*`. If several match, the latest one counts.
    ///   - handler: The function, called on the connection's thread, which it may block.
    public func answer(
        _ method: String?, _ path: String, by handler: @escaping @Sendable (ReceivedRequest) -> ServerAnswer
    ) {
        server.handle(method, path) { request in
            handler(ReceivedRequest(request)).response
        }
    }

    /// Accepts the bodies of PUT, POST and PATCH.
    ///
    /// - Parameters:
    ///   - path: The path, which may end in `*`.
    ///   - status: The status of the responses.
    /// - Returns: The uploads so far, updated whenever they are read.
    @discardableResult
    public func acceptUploads(_ path: String, status: Int = 201) -> AcceptedUploads {
        AcceptedUploads(sink: server.acceptUploads(path, answer: Response(status: status)))
    }

    // MARK: Faults

    /// Sets a fault for each of the next requests of a path, in the order in which they arrive. An earlier script of
    /// that path is replaced.
    ///
    /// - Parameters:
    ///   - path: The path, such as `/x`, as it is served.
    ///   - method: The method whose requests have the faults, while others get `afterwards`; `nil` counts all.
    ///   - faults: The faults, one for each request; ``ServerFault/none`` for a correct response.
    ///   - afterwards: The fault of all further requests, of any method.
    public func script(
        _ path: String, method: String? = nil, _ faults: [ServerFault], afterwards: ServerFault = .none
    ) {
        server.script(path, method: method, faults.map(\.fault), afterwards: afterwards.fault)
    }

    /// Resumes the requests that a ``ServerFault/stall(after:)`` or a ``ServerFault/holdHead`` holds now.
    ///
    /// - Parameter path: The path of the requests; `nil` for all paths.
    public func release(_ path: String? = nil) { server.release(path) }
}

/// Runs `body` with a new server, and stops the server at the end.
///
/// - Throws: The error of `body`, or an error when the server cannot listen.
@discardableResult
public func withScriptedServer<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (ScriptedServer) async throws -> Result
) async throws -> Result {
    let server = try ScriptedServer()
    defer { server.stop() }
    return try await body(server)
}
