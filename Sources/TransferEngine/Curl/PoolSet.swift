import Synchronization
import TransferCore
import TransferEventLoop

/// The pools of one loop: one for each set of TLS rules, so that no connection and no TLS session that one of them
/// accepted ever serves another.
final class PoolSet: Sendable {
    let loop: EventLoop
    /// Exchanges handed in and not ended: how busy the loop is, for the one who chooses.
    var load: Int { pools.withLock { $0.reduce(0) { $0 + $1.pool.load.load(ordering: .relaxed) } } }

    private struct Entry {
        let rules: TLSRules
        let pool: CurlPool
    }

    /// The one used last comes first: nearly always it's the one that's wanted.
    private let pools = Mutex<[Entry]>([])
    private let make: @Sendable () throws(TransferError) -> CurlPool

    /// - Parameter make: Makes a pool on `loop`.
    init(loop: EventLoop, make: @escaping @Sendable () throws(TransferError) -> CurlPool) {
        self.loop = loop
        self.make = make
    }

    /// The pool for `rules`, which counts one more exchange.
    ///
    /// - Throws: `TransferError` when libcurl can't be initialised.
    func pool(for rules: TLSRules) throws(TransferError) -> CurlPool {
        let (pool, retired) = try pools.withLock { entries throws(TransferError) -> (CurlPool, [CurlPool]) in
            if let index = entries.firstIndex(where: { $0.rules == rules }) {
                let entry = entries[index]
                if index > 0 {
                    entries.remove(at: index)
                    entries.insert(entry, at: 0)
                }
                entry.pool.load.add(1, ordering: .relaxed)
                return (entry.pool, [])
            }
            let made = try make()
            made.load.add(1, ordering: .relaxed)
            entries.insert(Entry(rules: rules, pool: made), at: 0)
            return (made, Self.retire(&entries))
        }
        for pool in retired { loop.execute { pool.assumeIsolated { $0.shutDown() } } }
        return pool
    }

    /// Rules come and go (a file of authorities that was written anew): pools that nobody used for long are given up.
    private static func retire(_ entries: inout [Entry]) -> [CurlPool] {
        var retired: [CurlPool] = []
        while entries.count > limit,
            let index = entries.lastIndex(where: { $0.pool.load.load(ordering: .relaxed) == 0 })
        {
            retired.append(entries.remove(at: index).pool)
        }
        return retired
    }

    /// To be called on the loop.
    func shutDown() {
        for pool in all { pool.assumeIsolated { $0.shutDown() } }
    }

    var all: [CurlPool] { pools.withLock { $0.map(\.pool) } }

    private static let limit = 32
}
