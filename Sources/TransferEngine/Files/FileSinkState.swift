import Synchronization
public import TransferCore

/// News of the workers beside a `FileSink`: how much is durable, and that the disk refused.
public final class FileSinkState: Sendable {
    private struct State {
        var synced: Int64 = 0
        var failure: TransferError?
    }

    private let state: Mutex<State>
    private let hasFailed = Atomic(false)
    private let holds = Atomic(0)
    private let recorded = Atomic(true)

    /// - Parameter synced: Bytes from the start that are durable already.
    public init(synced: Int64 = 0) { state = Mutex(State(synced: synced)) }

    public var synced: ByteRanges { ByteRanges(0..<state.withLock { $0.synced }) }

    var failure: TransferError? {
        // Read for every buffer: no lock on the good path.
        guard hasFailed.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.failure }
    }

    /// - Returns: Whether that is more than was known; of two syncs beside each other the older may come last.
    func didSync(_ position: Int64) -> Bool {
        state.withLock { state in
            guard position > state.synced else { return false }
            state.synced = position
            return true
        }
    }

    /// The file begins anew: nothing of it is durable.
    func restart() { state.withLock { $0.synced = 0 } }

    /// Whether it's written down what the bytes are that are on their way.
    var isRecorded: Bool {
        get { recorded.load(ordering: .acquiring) }
        set { recorded.store(newValue, ordering: .releasing) }
    }

    /// Whether bytes may be written: nothing has to be recorded before.
    var isReady: Bool { holds.load(ordering: .acquiring) == 0 }

    func hold() { holds.add(1, ordering: .relaxed) }

    func release() { holds.subtract(1, ordering: .releasing) }

    func fail(_ error: TransferError) {
        state.withLock { $0.failure = $0.failure ?? error }
        hasFailed.store(true, ordering: .releasing)
    }
}
