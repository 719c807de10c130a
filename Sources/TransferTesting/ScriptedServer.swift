import TransferTestServer

/// An HTTP/1.1 server on loopback for the tests of programs: it does exactly what a script says, and correctly what the
/// script doesn't mention.
///
/// Ranges, validators and conditional requests are answered by RFC 9110. Each server has a free port of its own, so that
/// tests run beside each other. Stop it with ``stop()``, or use ``withScriptedServer(isolation:_:)``.
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
    /// - Throws: When there is no port or no descriptor left; the error says which call failed.
    public init() throws { server = try TestServer() }

    /// The port that it listens on.
    public var port: Int { Int(server.port) }

    /// The URL of a path.
    ///
    /// - Parameter path: `/x`, also with a query.
    /// - Returns: `http://127.0.0.1:PORT/x`.
    public func url(_ path: String = "/") -> String { server.url(path) }

    /// Ends every connection, and returns when each has ended. Not to be called by a handler.
    public func stop() { server.stop() }

    // MARK: What it has

    /// Serves a file by GET and HEAD, or puts another one in its place.
    ///
    /// - Parameters:
    ///   - path: `/x`. With a query it answers that query alone.
    ///   - body: The bytes of the file.
    ///   - etag: With its quotes, `W/` in front of a weak one; `nil` sends none. A partial download can only be continued
    ///     with a strong one.
    ///   - contentType: `nil` sends none.
    ///   - acceptsRanges: `false` ignores Range: each answer is the whole file.
    ///   - headers: Further header fields of each answer.
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

    /// From now on the path is answered by 404.
    public func remove(_ path: String) { server.remove(path) }

    /// Answers requests by a function of the test.
    ///
    /// - Parameters:
    ///   - method: `nil` for any.
    ///   - path: May end in `*`. Of several that match, the last one that was given answers.
    ///   - handler: Called on the connection's thread, which it may block.
    public func answer(
        _ method: String?, _ path: String, by handler: @escaping @Sendable (ReceivedRequest) -> ServerAnswer
    ) {
        server.handle(method, path) { request in
            handler(ReceivedRequest(request)).response
        }
    }

    /// Takes what PUT, POST and PATCH bring.
    ///
    /// - Parameters:
    ///   - path: May end in `*`.
    ///   - status: The answer's.
    /// - Returns: What came so far, whenever it's asked.
    @discardableResult
    public func acceptUploads(_ path: String, status: Int = 201) -> AcceptedUploads {
        AcceptedUploads(sink: server.acceptUploads(path, answer: Response(status: status)))
    }

    // MARK: What goes wrong

    /// A fault for each of the next requests of a path, in the order in which they arrive. It takes the place of an earlier
    /// script of that path.
    ///
    /// - Parameters:
    ///   - path: `/x`, as it's served.
    ///   - method: The faults are for requests of that method only; others get `afterwards`. `nil` counts all.
    ///   - faults: One for each request; ``ServerFault/none`` for one that is answered as it should be.
    ///   - afterwards: For all further requests, of whatever method.
    public func script(
        _ path: String, method: String? = nil, _ faults: [ServerFault], afterwards: ServerFault = .none
    ) {
        server.script(path, method: method, faults.map(\.fault), afterwards: afterwards.fault)
    }

    /// Lets the requests go on that a ``ServerFault/stall(after:)`` or a ``ServerFault/holdHead`` holds now.
    ///
    /// - Parameter path: `nil` for those of all paths.
    public func release(_ path: String? = nil) { server.release(path) }
}

/// Runs `body` with a server of its own, and stops the server at the end.
///
/// - Throws: What `body` throws, and when the server can't listen.
@discardableResult
public func withScriptedServer<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (ScriptedServer) async throws -> Result
) async throws -> Result {
    let server = try ScriptedServer()
    defer { server.stop() }
    return try await body(server)
}
