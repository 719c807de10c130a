// A path is `/x` (on every host) or `http://host/x` (for a client that uses the server as a proxy).
extension TestServer {
    /// Serves a file, or puts another one in its place.
    public func serve(_ path: String, _ file: ServedFile) {
        update { $0.files[ResourceKey.normalized(path)] = file }
    }

    public func serve(_ path: String, _ content: Content, etag: String? = nil) {
        serve(path, ServedFile(content, etag: etag))
    }

    /// From now on the path is 404.
    public func remove(_ path: String) {
        update { $0.files[ResourceKey.normalized(path)] = nil }
    }

    /// A fault for each of the next requests of a path, in the order of their arrival; further ones get `afterwards`.
    /// Takes the place of an earlier script for that path.
    /// - Parameter method: counts only requests of that method; others are answered as they should be.
    public func script(_ path: String, method: String? = nil, _ faults: [Fault], afterwards: Fault = .none) {
        update { state in
            state.scripts[ResourceKey.normalized(path)] = FaultScript(
                entries: faults.map { .init(method: method, fault: $0) }, afterwards: afterwards)
        }
    }

    /// A fault for each of the next requests of a kind, whatever their path; further ones get `afterwards`. It's looked at
    /// before the scripts of paths, and takes the place of an earlier one of its name.
    public func script(
        _ name: String, for isFor: @escaping @Sendable (RequestHead) -> Bool, _ faults: [Fault],
        afterwards: Fault = .none
    ) {
        update { state in
            state.kinds[name] = FaultScript(
                isFor: isFor, entries: faults.map { .init(method: nil, fault: $0) }, afterwards: afterwards)
        }
    }

    /// Answers requests of a method (`nil`: of any) whose path matches; a pattern may end in `*`, later ones win.
    /// The handler runs on the connection's thread and may block it.
    public func handle(_ method: String?, _ pattern: String, _ handler: @escaping @Sendable (Request) -> Response) {
        add(method, pattern, .handler { ResponsePlan(handler($0)) })
    }

    /// For answers that are more than a ``Response``.
    func handle(_ pattern: String, _ handler: @escaping @Sendable (Request) -> ResponsePlan) {
        add(nil, pattern, .handler(handler))
    }

    /// Takes bodies sent with PUT, POST or PATCH to the paths that match.
    /// - Parameter keepsBytes: `false` keeps only their length and digest.
    @discardableResult
    public func acceptUploads(
        _ pattern: String, keepsBytes: Bool = true, answer: Response = Response(status: 201)
    ) -> UploadSink {
        let sink = UploadSink(keepsBytes: keepsBytes, answer: answer)
        for method in ["PUT", "POST", "PATCH"] { add(method, pattern, .sink(sink)) }
        return sink
    }

    /// Answers every request whose path matches as the service says; a pattern may end in `*`, later ones win.
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
