import Synchronization

/// The requests of a session that were started and have not ended. The session holds them until then.
///
/// The references are strong. A weak reference would make every use of the request slower, and a request is used often.
final class ActiveRequests: Sendable {
    private let requests = Mutex<[ObjectIdentifier: Request]>([:])

    var all: Set<Request> { Set(requests.withLock { Array($0.values) }) }

    func insert(_ request: Request) { requests.withLock { $0[ObjectIdentifier(request)] = request } }

    /// - Returns: Whether the request was there.
    @discardableResult
    func remove(_ request: Request) -> Bool {
        let id = ObjectIdentifier(request)
        // The request is released outside the lock, as this may be the last reference.
        let removed = requests.withLock { $0.removeValue(forKey: id) }
        return removed != nil
    }
}
