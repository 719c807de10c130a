import Synchronization

/// Holds the body of an answer, and the end of the exchange, back until somebody has decided about its head.
final class AnswerGate: Sendable {
    private let open = Atomic(true)
    private let suspended = Atomic(false)
    private let refused = Atomic(false)
    private let deferred = Mutex<(@Sendable () -> Void)?>(nil)

    /// Whether the body may come now.
    var isOpen: Bool { hasDecision && !suspended.load(ordering: .acquiring) }

    var hasDecision: Bool { open.load(ordering: .acquiring) }

    /// Stops the body at once; the loop that carries it hears of a suspension a moment later, in which much can come.
    func setSuspended(_ isSuspended: Bool) { suspended.store(isSuspended, ordering: .releasing) }

    /// Whether nobody wants the body any more: what still comes of it is dropped.
    var isRefused: Bool { refused.load(ordering: .acquiring) }

    /// The loop that carries the body hears of a cancellation a moment later, in which all of it can come.
    func refuse() { refused.store(true, ordering: .releasing) }

    func close() { open.store(false, ordering: .releasing) }

    /// - Returns: Whether it was closed: a second decision doesn't count.
    func decide() -> Bool {
        let (wasClosed, action) = deferred.withLock { deferred in
            let action = deferred
            deferred = nil
            return (!open.exchange(true, ordering: .acquiringAndReleasing), action)
        }
        action?()
        return wasClosed
    }

    /// Does it now, or as soon as the decision is there.
    func whenDecided(_ action: @escaping @Sendable () -> Void) {
        let isDecided = deferred.withLock { deferred in
            if hasDecision { return true }
            deferred = action
            return false
        }
        if isDecided { action() }
    }
}
