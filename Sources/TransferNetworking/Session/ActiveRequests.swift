import Synchronization

/// The requests of a session that were started and haven't come to their end. It holds them meanwhile.
///
/// Not weakly: every use of an object that somebody refers to weakly costs more, and a request has many.
final class ActiveRequests: Sendable {
    private let requests = Mutex<[ObjectIdentifier: Request]>([:])

    var all: Set<Request> { Set(requests.withLock { Array($0.values) }) }

    func insert(_ request: Request) { requests.withLock { $0[ObjectIdentifier(request)] = request } }

    /// - Returns: Whether it was there.
    func remove(_ request: Request) -> Bool {
        let id = ObjectIdentifier(request)
        // Let go of outside the lock: it may be the last reference.
        let removed = requests.withLock { $0.removeValue(forKey: id) }
        return removed != nil
    }
}
