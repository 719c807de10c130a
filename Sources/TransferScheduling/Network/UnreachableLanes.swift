package import TransferCore
package import TransferJobs

/// Lanes whose origins the network that is there doesn't lead to, as their attempts found. Neighbours come, and routes to
/// them, without the kernel's notice: after a while they are tried again though nothing changed.
package struct UnreachableLanes: Sendable, Hashable {
    private var lanes: Set<Lane> = []
    private var until: MonotonicTime?

    private static let patience = Duration.seconds(30)

    package mutating func insert(_ lane: Lane) { lanes.insert(lane) }

    package mutating func forget() { lanes.removeAll() }

    /// The unreachable lanes whose time isn't over.
    package mutating func lanes(now: MonotonicTime) -> Set<Lane> {
        if let until, until <= now { forget() }
        return lanes
    }

    /// The time at which they are tried again; `nil` where there are none.
    package mutating func nextLook(now: MonotonicTime) -> MonotonicTime? {
        until = lanes.isEmpty ? nil : until ?? now + Self.patience
        return until
    }
}
