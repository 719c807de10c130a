import Synchronization
import TransferCore

/// The bytes that all exchanges of an engine move together. A shared link is slow for each of them.
final class EngineTraffic: Sendable {
    private let movedCount = Atomic<Int64>(0)
    private let exchangeCount = Atomic<Int>(0)
    private let lastMovedCount = Atomic<Int64>(0)

    /// The bytes that have come or have been acknowledged.
    var moved: Int64 { movedCount.load(ordering: .relaxed) }
    /// The number of exchanges under way.
    var exchanges: Int { exchangeCount.load(ordering: .relaxed) }
    /// The time at which an exchange last moved a byte.
    var lastMoved: MonotonicTime { MonotonicTime(nanoseconds: lastMovedCount.load(ordering: .relaxed)) }

    func began() { exchangeCount.add(1, ordering: .relaxed) }
    func ended() { exchangeCount.subtract(1, ordering: .relaxed) }

    func moved(_ bytes: Int64, at time: MonotonicTime) {
        movedCount.add(bytes, ordering: .relaxed)
        lastMovedCount.store(time.nanoseconds, ordering: .relaxed)
    }
}
