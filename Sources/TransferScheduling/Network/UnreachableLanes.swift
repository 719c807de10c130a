import TransferCore

/// Lanes whose origins the network that is there doesn't lead to, as their attempts found. Neighbours come, and routes to
/// them, without the kernel's notice: after a while they are tried again though nothing changed.
struct UnreachableLanes: Sendable, Hashable {
    private var lanes: Set<Lane> = []
    private var until: MonotonicTime?

    private static let patience = Duration.seconds(30)

    mutating func insert(_ lane: Lane) { lanes.insert(lane) }

    mutating func forget() { lanes.removeAll() }

    /// Those that there are, unless their time is over.
    mutating func lanes(now: MonotonicTime) -> Set<Lane> {
        if let until, until <= now { forget() }
        return lanes
    }

    /// When they are tried again; `nil` where there are none.
    mutating func nextLook(now: MonotonicTime) -> MonotonicTime? {
        until = lanes.isEmpty ? nil : until ?? now + Self.patience
        return until
    }
}
