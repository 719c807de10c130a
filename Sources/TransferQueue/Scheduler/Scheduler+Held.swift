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
            let jobs = jobs(to: origin)
            if jobs > worst?.jobs ?? 0 { worst = (origin, error, remaining, jobs) }
        }
        return worst
    }

    /// Jobs that are held back by their origin.
    func heldBack() -> Int {
        gates.reduce(0) { sum, gate in
            switch gate.value.state {
            case .paused, .probing: sum + jobs(to: gate.key)
            case .open, .dead: sum
            }
        }
    }

    private func jobs(to origin: String) -> Int { table.lanes(to: origin).reduce(0) { $0 + $1.jobs } }
}
