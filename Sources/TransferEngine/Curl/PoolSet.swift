import Synchronization
import TransferCore
import TransferEventLoop

/// A border that connections are never shared across.
struct PoolKey: Sendable, Hashable {
    let rules: TLSRules
    /// The only link that they go over.
    let link: String?
    /// A connection of another version mustn't be used.
    var speaksHTTP1Only = false
    /// A connection to another address mustn't be used.
    var isPublicOnly = false
    /// A connection that yields to others serves only those who want that.
    var isBackground = false
    /// `nil` for HTTP.
    var account: FileServerAccount?
}

/// The pools of one loop: one for each set of TLS rules, so that no connection and no TLS session that one of them
/// accepted ever serves another, and one for each link that exchanges require; new ones whenever the network is another
/// one.
final class PoolSet: Sendable {
    let loop: EventLoop
    /// Exchanges handed in and not ended: how busy the loop is, for the one who chooses.
    var load: Int { state.withLock { $0.entries.reduce(0) { $0 + $1.pool.load.load(ordering: .relaxed) } } }

    /// Sockets that exchanges under way use.
    var connections: Int { all.reduce(0) { $0 + $1.connections.load(ordering: .relaxed) } }

    private final class Entry: Sendable {
        let key: PoolKey
        let generation: Int
        let pool: CurlPool

        init(key: PoolKey, generation: Int, pool: CurlPool) {
            self.key = key
            self.generation = generation
            self.pool = pool
        }
    }

    private struct State {
        /// The one used last comes first: nearly always it's the one that's wanted.
        var entries: [Entry] = []
        /// Counts the networks: connections of an older one serve nobody new.
        var generation = 0

        /// The first time that a pool of an older network, or one of many, has nothing left to do, it's given up.
        mutating func retire() -> [CurlPool] {
            var retired: [CurlPool] = []
            entries.removeAll { entry in
                guard entry.generation < generation, entry.pool.load.load(ordering: .relaxed) == 0 else { return false }
                retired.append(entry.pool)
                return true
            }
            // Rules come and go (a file of authorities that was written anew).
            while entries.count > PoolSet.limit,
                let index = entries.lastIndex(where: { $0.pool.load.load(ordering: .relaxed) == 0 })
            {
                retired.append(entries.remove(at: index).pool)
            }
            return retired
        }
    }

    private let state = Mutex(State())
    private let make: @Sendable () throws(TransferError) -> CurlPool

    /// - Parameter make: Makes a pool on `loop`.
    init(loop: EventLoop, make: @escaping @Sendable () throws(TransferError) -> CurlPool) {
        self.loop = loop
        self.make = make
    }

    /// The pool for `key`, which counts one more exchange.
    ///
    /// - Throws: `TransferError` when libcurl can't be initialised.
    func pool(for key: PoolKey) throws(TransferError) -> CurlPool {
        let (pool, retired) = try state.withLock { state throws(TransferError) -> (CurlPool, [CurlPool]) in
            let generation = state.generation
            if let first = state.entries.first, first.generation == generation, first.key == key {
                first.pool.load.add(1, ordering: .relaxed)
                return (first.pool, state.entries.count > 1 ? state.retire() : [])
            }
            let known = state.entries.firstIndex { $0.generation == generation && $0.key == key }
            let entry: Entry
            if let known {
                entry = state.entries.remove(at: known)
            } else {
                entry = Entry(key: key, generation: generation, pool: try make())
            }
            entry.pool.load.add(1, ordering: .relaxed)
            state.entries.insert(entry, at: 0)
            return (entry.pool, state.retire())
        }
        shutDown(retired)
        return pool
    }

    /// The network is another one: what is under way goes on where it is, and new exchanges get new connections.
    func renew() {
        shutDown(
            state.withLock { state in
                state.generation += 1
                return state.retire()
            })
    }

    /// Whether there may be a connection for `key`.
    func hasPool(for key: PoolKey) -> Bool { known(key) != nil }

    /// Whether a connection to that file server waits for its next exchange.
    func hasIdleConnection(for key: PoolKey, to origin: Origin) -> Bool {
        known(key)?.sockets?.hasIdle(to: origin) == true
    }

    private func known(_ key: PoolKey) -> CurlPool? {
        state.withLock { state in
            state.entries.first { $0.generation == state.generation && $0.key == key }?.pool
        }
    }

    private func shutDown(_ pools: [CurlPool]) {
        for pool in pools { loop.execute { pool.onLoop { $0.shutDown() } } }
    }

    /// Shuts the pools down. Called on the loop.
    func shutDown() {
        for pool in all { pool.onLoop { $0.shutDown() } }
    }

    var all: [CurlPool] { state.withLock { $0.entries.map(\.pool) } }

    private static let limit = 32
}
