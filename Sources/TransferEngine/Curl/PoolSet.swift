import Synchronization
import TransferCore
import TransferEventLoop

/// The facts that separate connections: no connection is shared by exchanges with different keys.
struct PoolKey: Sendable, Hashable {
    let rules: TLSRules
    /// The only link of the connections.
    let link: String?
    /// Whether only HTTP/1 is spoken; a connection of another version must not be used.
    var speaksHTTP1Only = false
    /// Whether only public addresses are connected to; a connection to another address must not be used.
    var isPublicOnly = false
    /// The versions of IP; a connection of another one must not be used.
    var families = AddressFamilies.any
    /// Whether the connections yield to other traffic; such a connection serves only exchanges that want that.
    var isBackground = false
    /// The account at a file server; `nil` for HTTP.
    var account: FileServerAccount?
}

/// The pools of one loop, one for each ``PoolKey``; a changed network begins new ones.
///
/// A separate pool for each set of TLS rules ensures that a connection or TLS session never serves rules that did not
/// accept it.
final class PoolSet: Sendable {
    let loop: EventLoop
    /// The number of exchanges that were started and have not ended, by which a loop is chosen.
    var load: Int { state.withLock { $0.entries.reduce(0) { $0 + $1.pool.load.load(ordering: .relaxed) } } }

    /// The number of sockets that current exchanges use.
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
        /// The pools, the last used one first: it nearly always is the wanted one.
        var entries: [Entry] = []
        /// The number of the network: connections of an older one serve no new exchange.
        var generation = 0

        /// Removes the pools of an older network, and surplus ones, that have no exchange left.
        mutating func retire() -> [CurlPool] {
            var retired: [CurlPool] = []
            entries.removeAll { entry in
                guard entry.generation < generation, entry.pool.load.load(ordering: .relaxed) == 0 else { return false }
                retired.append(entry.pool)
                return true
            }
            // TLS rules come and go, for example when a file of authorities is rewritten.
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

    /// Creates an empty set.
    ///
    /// - Parameter make: A closure that makes a pool on `loop`.
    init(loop: EventLoop, make: @escaping @Sendable () throws(TransferError) -> CurlPool) {
        self.loop = loop
        self.make = make
    }

    /// Returns the pool for `key`, and counts one more exchange for it.
    ///
    /// - Throws: `TransferError` when libcurl cannot be initialised.
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

    /// Begins a new network: current exchanges continue on their connections, and new ones get new connections.
    func renew() {
        shutDown(
            state.withLock { state in
                state.generation += 1
                return state.retire()
            })
    }

    /// Returns whether there may be a connection for `key`.
    func hasPool(for key: PoolKey) -> Bool { known(key) != nil }

    /// Returns whether a connection to that file server is idle.
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

    /// Shuts the pools down. The caller is on the loop.
    func shutDown() {
        for pool in all { pool.onLoop { $0.shutDown() } }
    }

    var all: [CurlPool] { state.withLock { $0.entries.map(\.pool) } }

    private static let limit = 32
}
