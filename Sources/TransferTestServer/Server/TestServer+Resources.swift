// A path is `/x` for every host, or `http://host/x` for a client that uses the server as a proxy.
extension TestServer {
    /// Serves a file, which replaces an earlier one at the path.
    public func serve(_ path: String, _ file: ServedFile) {
        update { $0.files[ResourceKey.normalized(path)] = file }
    }

    /// Serves a file with this content and ETag.
    public func serve(_ path: String, _ content: Content, etag: String? = nil) {
        serve(path, ServedFile(content, etag: etag))
    }

    /// Answers requests to the path with 404 from now on.
    public func remove(_ path: String) {
        update { $0.files[ResourceKey.normalized(path)] = nil }
    }

    /// Sets a fault for each of the next requests to a path, in their order of arrival; further ones get `afterwards`.
    /// The new script replaces an earlier one for the path.
    ///
    /// - Parameter method: The method of the requests that count; others are answered correctly. `nil` counts all.
    public func script(_ path: String, method: String? = nil, _ faults: [Fault], afterwards: Fault = .none) {
        update { state in
            state.scripts[ResourceKey.normalized(path)] = FaultScript(
                entries: faults.map { .init(method: method, fault: $0) }, afterwards: afterwards)
        }
    }

    /// Sets a fault for each of the next requests of a kind, whatever their path; further ones get `afterwards`. The
    /// script precedes those of paths, and replaces an earlier one with its name.
    public func script(
        _ name: String, for isFor: @escaping @Sendable (RequestHead) -> Bool, _ faults: [Fault],
        afterwards: Fault = .none
    ) {
        update { state in
            state.kinds[name] = FaultScript(
                isFor: isFor, entries: faults.map { .init(method: nil, fault: $0) }, afterwards: afterwards)
        }
    }

    /// Answers requests with a method (`nil` for any) whose path matches. A pattern may end in `*`, and later ones take
    /// precedence. The handler runs on the connection's thread and may block it.
    public func handle(_ method: String?, _ pattern: String, _ handler: @escaping @Sendable (Request) -> Response) {
        add(method, pattern, .handler { ResponsePlan(handler($0)) })
    }

    /// Adds a handler for responses that a ``Response`` cannot express.
    func handle(_ pattern: String, _ handler: @escaping @Sendable (Request) -> ResponsePlan) {
        add(nil, pattern, .handler(handler))
    }

    /// Accepts bodies sent with PUT, POST or PATCH to the paths that match.
    ///
    /// - Parameter keepsBytes: Whether the bytes are kept; `false` keeps only their length and digest.
    @discardableResult
    public func acceptUploads(
        _ pattern: String, keepsBytes: Bool = true, answer: Response = Response(status: 201)
    ) -> UploadSink {
        let sink = UploadSink(keepsBytes: keepsBytes, answer: answer)
        for method in ["PUT", "POST", "PATCH"] { add(method, pattern, .sink(sink)) }
        return sink
    }

    /// Lets a service answer all requests whose path matches. A pattern may end in `*`, and later ones take precedence.
    @discardableResult
    public func serve<Service: UploadService>(_ pattern: String, _ service: Service) -> ServedUploads<Service> {
        let served = ServedUploads(service)
        add(nil, pattern, .uploads(served))
        return served
    }

    func add(_ method: String?, _ pattern: String, _ resource: Resource) {
        update { state in
            state.handlers.append(
                .init(method: method, pattern: ResourceKey.normalized(pattern), resource: resource))
        }
    }
}
