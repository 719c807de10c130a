import Glibc

/// A thread that can be joined. Blocking calls on separate threads keep faults exact and never occupy Swift's thread
/// pool.
enum ServerThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) throws -> pthread_t {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 1 << 19)
        defer { pthread_attr_destroy(&attributes) }
        let body = Unmanaged.passRetained(Body(run))
        let result = pthread_create(
            &thread, &attributes,
            { raw in
                if let raw { Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        guard result == 0 else {
            body.release()
            errno = result
            throw TestServerError("pthread_create")
        }
        return thread
    }
}
