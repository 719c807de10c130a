import Dispatch
import Synchronization

/// The delivery of snapshots to one observer: immediately, or on a queue, where a newer snapshot replaces a waiting
/// one.
final class Mailbox: Sendable {
    private struct State {
        var waiting: NetworkSnapshot?
        var last: NetworkSnapshot?
        var isCalled = false
        var isClosed = false
    }

    private let queue: DispatchQueue?
    private let observer: NetworkMonitor.Observer
    private let state = Mutex(State())

    init(queue: DispatchQueue?, observer: @escaping NetworkMonitor.Observer) {
        self.queue = queue
        self.observer = observer
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// Delivers the snapshot that was known when the observer was added, unless a newer one has been delivered since.
    func putFirst(_ snapshot: NetworkSnapshot) {
        if state.withLock({ $0.last == nil && $0.waiting == nil }) { put(snapshot) }
    }

    /// Delivers a snapshot, unless it equals the last one.
    func put(_ snapshot: NetworkSnapshot) {
        let mustCall = state.withLock { state in
            state.waiting = snapshot
            guard !state.isCalled else { return false }
            state.isCalled = true
            return true
        }
        guard mustCall else { return }
        if let queue { queue.async { self.deliver() } } else { deliver() }
    }

    private func deliver() {
        while true {
            let snapshot = state.withLock { state -> NetworkSnapshot? in
                guard let snapshot = state.waiting.take(), !state.isClosed, snapshot != state.last else {
                    state.isCalled = false
                    return nil
                }
                state.last = snapshot
                return snapshot
            }
            guard let snapshot else { return }
            observer(snapshot)
        }
    }
}
