import Synchronization

/// A gate that holds back the body of a response, and the end of the exchange, until the head has been judged.
final class AnswerGate: Sendable {
    private let open = Atomic(true)
    private let suspended = Atomic(false)
    private let refused = Atomic(false)
    private let deferred = Mutex<(@Sendable () -> Void)?>(nil)

    /// Whether the body may be delivered now.
    var isOpen: Bool { hasDecision && !suspended.load(ordering: .acquiring) }

    var hasDecision: Bool { open.load(ordering: .acquiring) }

    /// Stops the body at once. The loop learns of a suspension later, and much of the body can arrive until then.
    func setSuspended(_ isSuspended: Bool) { suspended.store(isSuspended, ordering: .releasing) }

    /// Whether the body is no longer wanted; the rest of it is dropped.
    var isRefused: Bool { refused.load(ordering: .acquiring) }

    /// Drops the rest of the body at once. The loop learns of a cancellation later, and all of the body can arrive
    /// until then.
    func refuse() { refused.store(true, ordering: .releasing) }

    func close() { open.store(false, ordering: .releasing) }

    /// - Returns: Whether the gate was closed; a second decision has no effect.
    func decide() -> Bool {
        let (wasClosed, action) = deferred.withLock { deferred in
            let action = deferred
            deferred = nil
            return (!open.exchange(true, ordering: .acquiringAndReleasing), action)
        }
        action?()
        return wasClosed
    }

    /// Drops the rest of the body where no decision was made.
    ///
    /// - Parameter note: A closure that is called before the gate opens, only where this call was the first.
    func expire(_ note: () -> Void) {
        let action = deferred.withLock { deferred -> (@Sendable () -> Void)?? in
            guard !hasDecision else { return nil }
            note()
            refused.store(true, ordering: .releasing)
            open.store(true, ordering: .releasing)
            let action = deferred
            deferred = nil
            return .some(action)
        }
        if let action { action?() }
    }

    /// Runs the action at once, or as soon as the decision is made.
    func whenDecided(_ action: @escaping @Sendable () -> Void) {
        let isDecided = deferred.withLock { deferred in
            if hasDecision { return true }
            deferred = action
            return false
        }
        if isDecided { action() }
    }
}
