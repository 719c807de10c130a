import TransferCore

// Jobs that their origins keep from starting.
extension Scheduler {
    /// Why jobs of this origin wait, if the origin is the reason.
    func pause(of origin: String, now: MonotonicTime) -> (error: TransferError, remaining: Duration)? {
        switch gates[origin]?.state {
        case .paused(let until, let reason): (reason.error, max(.zero, until - now))
        case .probing(_, let reason): (reason.error, .zero)
        default: nil
        }
    }

    /// The origin that holds up the most jobs.
    func longestPause(now: MonotonicTime) -> (origin: String, error: TransferError, remaining: Duration, jobs: Int)? {
        var worst: (origin: String, error: TransferError, remaining: Duration, jobs: Int)?
        for origin in gates.keys {
            guard let (error, remaining) = pause(of: origin, now: now) else { continue }
            let jobs = lanes.filter { $0.lane.origin == origin }.reduce(0) { $0 + $1.backlog + $1.window.count }
            if jobs > worst?.jobs ?? 0 { worst = (origin, error, remaining, jobs) }
        }
        return worst
    }

    /// Jobs that are held back by their origin.
    func heldBack() -> Int {
        lanes.reduce(0) { sum, lane in
            switch gates[lane.lane.origin]?.state {
            case .paused, .probing: sum + lane.backlog + lane.window.count
            default: sum
            }
        }
    }
}
