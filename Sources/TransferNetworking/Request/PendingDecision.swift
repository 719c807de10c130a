import Dispatch
import Foundation
import Synchronization

/// One decision of the program that an attempt waits for. It is made once, by the program or by the end of its time.
final class PendingDecision: Sendable {
    private let made = Atomic(false)

    var isMade: Bool { made.load(ordering: .acquiring) }

    /// - Returns: Whether this call makes the decision; a later one has no effect.
    func take() -> Bool { !made.exchange(true, ordering: .acquiringAndReleasing) }
}

extension Request {
    /// Calls `expired` on the root queue where the program has not decided within the time-out of the request
    /// (``SessionSettings/requestTimeout``). A period in which the request was suspended does not count.
    func bound(_ decision: PendingDecision, of record: AttemptRecord, expired: @escaping @Sendable () -> Void) {
        guard let limit = session.settings.idleTimeout(of: record.urlRequest) else { return }
        watch(decision, for: min(limit, 1e8), expired)
    }

    private func watch(
        _ decision: PendingDecision, for limit: TimeInterval, _ expired: @escaping @Sendable () -> Void
    ) {
        guard !decision.isMade else { return }
        let (suspensions, wasSuspended) = read { ($0.suspensions, $0.publicState == .suspended) }
        session.rootQueue.asyncAfter(deadline: .now() + limit) { [weak self] in
            // A request that no longer exists waits for nothing.
            guard let self, !decision.isMade else { return }
            guard !wasSuspended, read({ $0.suspensions }) == suspensions else {
                return watch(decision, for: limit, expired)
            }
            if decision.take() { expired() }
        }
    }
}
