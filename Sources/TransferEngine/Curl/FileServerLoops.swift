import Synchronization
import TransferCore
import TransferEventLoop

/// Loops for file servers, made when they are needed.
///
/// libcurl waits for these servers where it stands now and then, for a round trip or a second; on loops of their own
/// they keep nobody else waiting, and each other only once there are more exchanges than loops.
final class FileServerLoops: Sendable {
    private struct State {
        var sets: [PoolSet] = []
        var isShutDown = false
    }

    private let state = Mutex(State())
    private let make: @Sendable (String) throws -> PoolSet
    private static let limit = 64

    /// - Parameter make: Makes the pools of one loop, by the loop's name.
    init(make: @escaping @Sendable (String) throws -> PoolSet) { self.make = make }

    /// A pool for `key`, which counts one more exchange.
    func pool(for key: PoolKey, to origin: Origin?) throws(TransferError) -> CurlPool {
        try state.withLock { state throws(TransferError) in
            guard !state.isShutDown else { throw .shutDown }
            return try set(for: key, to: origin, &state).pool(for: key)
        }
    }

    /// One that has nothing to do, at best one with a connection to the server, which may let nobody more in, else one
    /// that knows it; a new one; the one that has the least to do.
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

    /// - Returns: The loops, which nothing new comes to any more; what stands still in one of them has been told to end.
    func shutDown() -> [PoolSet] {
        let sets = state.withLock { state in
            state.isShutDown = true
            return state.sets
        }
        for set in sets { for pool in set.all { pool.sockets?.stopAll(.shutDown) } }
        return sets
    }
}
