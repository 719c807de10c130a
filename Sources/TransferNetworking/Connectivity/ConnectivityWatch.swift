import Dispatch
import Foundation
import Synchronization
import TransferReachability

/// Those who wait for a way to the network: the kernel is listened to while there is somebody.
final class ConnectivityWatch: Sendable {
    private struct Waiter {
        let queue: DispatchQueue
        let action: @Sendable (Bool) -> Void
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var last = 0
        var manager: NetworkReachabilityManager?
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "transferkit.connectivity")

    /// Whether the kernel knows of no way. What it doesn't tell is no reason to wait.
    static var isOffline: Bool { NetworkReachabilityManager()?.status == .notReachable }

    /// Calls `action` once on `queue`: with `true` as soon as there is a way, also at once, or when nobody can tell; with
    /// `false` when there was none in time.
    ///
    /// - Parameter limit: Seconds.
    func whenReachable(
        within limit: TimeInterval, on queue: DispatchQueue, _ action: @escaping @Sendable (Bool) -> Void
    ) {
        let (id, manager) = state.withLock { state -> (Int, NetworkReachabilityManager?) in
            state.last += 1
            state.waiters[state.last] = Waiter(queue: queue, action: action)
            guard state.manager == nil else { return (state.last, nil) }
            state.manager = NetworkReachabilityManager()
            return (state.last, state.manager)
        }
        if let manager {
            let listens = manager.startListening(onQueue: self.queue) { [weak self] status in
                if status != .notReachable { self?.reached() }
            }
            if !listens { reached() }
        } else if state.withLock({ $0.manager == nil }) {
            reached()
        } else {
            // Who came before may have been told already, between their listening and this.
            self.queue.async { [weak self] in if !Self.isOffline { self?.reached() } }
        }
        self.queue.asyncAfter(deadline: .now() + min(max(0, limit), 1e8)) { [weak self] in self?.expired(id) }
    }

    private func reached() {
        let (waiters, manager) = state.withLock { state in
            let found = (state.waiters, state.manager)
            state.waiters = [:]
            state.manager = nil
            return found
        }
        manager?.stopListening()
        for waiter in waiters.values { waiter.queue.async { waiter.action(true) } }
    }

    private func expired(_ id: Int) {
        let (waiter, manager) = state.withLock { state -> (Waiter?, NetworkReachabilityManager?) in
            let waiter = state.waiters.removeValue(forKey: id)
            guard state.waiters.isEmpty else { return (waiter, nil) }
            let manager = state.manager
            state.manager = nil
            return (waiter, manager)
        }
        manager?.stopListening()
        guard let waiter else { return }
        waiter.queue.async { waiter.action(false) }
    }
}
