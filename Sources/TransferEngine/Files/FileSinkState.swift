import Synchronization
public import TransferCore

/// The reports of the workers beside a `FileSink`: the durable bytes, and failures of the disk.
public final class FileSinkState: Sendable {
    private struct State {
        var synced: Int64 = 0
        var failure: TransferError?
    }

    private let state: Mutex<State>
    private let hasFailed = Atomic(false)
    private let holds = Atomic(0)
    private let recorded = Atomic(true)

    /// Creates a state.
    ///
    /// - Parameter synced: The bytes from the start that are durable already.
    public init(synced: Int64 = 0) { state = Mutex(State(synced: synced)) }

    /// The durable bytes.
    public var synced: ByteRanges { ByteRanges(0..<state.withLock { $0.synced }) }

    var failure: TransferError? {
        // The failure is read for every buffer: without a failure no lock is taken.
        guard hasFailed.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.failure }
    }

    /// Notes a sync.
    ///
    /// - Returns: Whether more bytes are durable than before; of two concurrent syncs the older may end last.
    func didSync(_ position: Int64) -> Bool {
        state.withLock { state in
            guard position > state.synced else { return false }
            state.synced = position
            return true
        }
    }

    /// Notes that the file begins anew: no byte of it is durable.
    func restart() { state.withLock { $0.synced = 0 } }

    /// Whether a record describes the bytes that are coming.
    var isRecorded: Bool {
        get { recorded.load(ordering: .acquiring) }
        set { recorded.store(newValue, ordering: .releasing) }
    }

    /// Whether bytes may be written, because no record has to be stored before.
    var isReady: Bool { holds.load(ordering: .acquiring) == 0 }

    func hold() { holds.add(1, ordering: .relaxed) }

    func release() { holds.subtract(1, ordering: .releasing) }

    func fail(_ error: TransferError) {
        state.withLock { $0.failure = $0.failure ?? error }
        hasFailed.store(true, ordering: .releasing)
    }
}
