import Synchronization
import TransferCore
import TransferEventLoop

/// The loops for file servers, made when they are needed.
///
/// libcurl sometimes blocks its loop for these servers, for a round trip or a second. On separate loops they delay no
/// HTTP exchange, and one another only once there are more exchanges than loops.
final class FileServerLoops: Sendable {
    private struct State {
        var sets: [PoolSet] = []
        var isShutDown = false
    }

    private let state = Mutex(State())
    private let make: @Sendable (String) throws -> PoolSet
    private static let limit = 64

    /// Creates the set of loops.
    ///
    /// - Parameter make: A closure that makes the pools of one loop, by the loop's name.
    init(make: @escaping @Sendable (String) throws -> PoolSet) { self.make = make }

    /// Returns a pool for `key`, and counts one more exchange for it.
    func pool(for key: PoolKey, to origin: Origin?) throws(TransferError) -> CurlPool {
        try state.withLock { state throws(TransferError) in
            guard !state.isShutDown else { throw .shutDown }
            return try set(for: key, to: origin, &state).pool(for: key)
        }
    }

    /// Chooses the loop of an exchange: an idle one first, else a new one, else the least busy one.
    ///
    /// An idle loop with a connection to the server is best, as the server may accept no more. The next best is one
    /// that knows the server.
    private func set(for key: PoolKey, to origin: Origin?, _ state: inout State) throws(TransferError) -> PoolSet {
        let idle = state.sets.filter { $0.load == 0 }
        if let origin, let connected = idle.first(where: { $0.hasIdleConnection(for: key, to: origin) }) {
            return connected
        }
        if let known = idle.first(where: { $0.hasPool(for: key) }) ?? idle.first { return known }
        if let least = state.sets.min(by: { $0.load < $1.load }), state.sets.count >= Self.limit { return least }
        do {
            let made = try make("files-\(state.sets.count)")
            state.sets.append(made)
            return made
        } catch {
            if let least = state.sets.min(by: { $0.load < $1.load }) { return least }
            throw error as? TransferError ?? .internalFault(error)
        }
    }

    var all: [PoolSet] { state.withLock { $0.sets } }

    func renew() { for set in state.withLock({ $0.sets }) { set.renew() } }

    /// Shuts the loops down: no new exchange is accepted, and blocked exchanges are made to end.
    ///
    /// - Returns: The loops.
    func shutDown() -> [PoolSet] {
        let sets = state.withLock { state in
            state.isShutDown = true
            return state.sets
        }
        for set in sets { for pool in set.all { pool.sockets?.stopAll(.shutDown) } }
        return sets
    }
}
