package import TransferCore
package import TransferJobs

/// The lanes whose origins the present network does not reach, as their attempts found. Neighbours and routes to them
/// appear without notice, so the lanes are tried again after a while.
package struct UnreachableLanes: Sendable, Hashable {
    private var lanes: Set<Lane> = []
    private var until: MonotonicTime?

    private static let patience = Duration.seconds(30)

    package mutating func insert(_ lane: Lane) { lanes.insert(lane) }

    package mutating func forget() { lanes.removeAll() }

    /// Returns the unreachable lanes whose wait is not over.
    package mutating func lanes(now: MonotonicTime) -> Set<Lane> {
        if let until, until <= now { forget() }
        return lanes
    }

    /// Returns the time at which they are tried again; `nil` if there are none.
    package mutating func nextLook(now: MonotonicTime) -> MonotonicTime? {
        until = lanes.isEmpty ? nil : until ?? now + Self.patience
        return until
    }
}
