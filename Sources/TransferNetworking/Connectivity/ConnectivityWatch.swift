import Dispatch
import Foundation
import Synchronization
import TransferReachability

/// The callers that wait for a route to the network. The watch listens to the kernel while there is a caller.
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

    /// Whether the kernel reports that there is no route. An unknown state is no reason to wait.
    static var isOffline: Bool { NetworkReachabilityManager()?.status == .notReachable }

    /// Calls `action` once on `queue`. The value is `true` as soon as there is a route, or when the state cannot be
    /// observed. The value is `false` when there was no route within the limit.
    ///
    /// - Parameter limit: The longest wait, in seconds.
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
            // The event for earlier waiters may have come between the start of their listening and this registration.
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
