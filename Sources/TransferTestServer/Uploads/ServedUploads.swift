import Glibc

/// An upload service behind a path of a ``TestServer``, shared by the server's connections.
public final class ServedUploads<Service: UploadService>: Sendable {
    private let service: Guarded<Service>
    private let lastID = Guarded(0)

    init(_ service: Service) { self.service = Guarded(service) }

    /// Reads or changes the service.
    @discardableResult
    public func with<Result>(_ body: (inout Service) -> Result) -> Result { service.withLock(body) }
}

/// The interface of a service for a connection.
protocol ServedUploadService: Sendable {
    func begin(_ head: RequestHead) -> (id: Int, step: UploadServiceStep)
    func receive(_ id: Int, _ piece: UnsafeRawBufferPointer) -> [Response]
    func end(_ id: Int, isWhole: Bool) -> Response
}

extension ServedUploads: ServedUploadService {
    func begin(_ head: RequestHead) -> (id: Int, step: UploadServiceStep) {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        return (id, with { $0.begin(id, method: head.method, target: head.target, headers: head.headers) })
    }

    func receive(_ id: Int, _ piece: UnsafeRawBufferPointer) -> [Response] {
        with { $0.receive(id, Array(piece)) }
    }

    func end(_ id: Int, isWhole: Bool) -> Response { with { $0.end(id, isWhole: isWhole) } }
}
