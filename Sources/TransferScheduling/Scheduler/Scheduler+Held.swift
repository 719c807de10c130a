package import TransferCore
import TransferJobs

// Jobs that their origins keep from starting.
extension Scheduler {
    /// Why jobs of this origin wait, if the origin is the reason.
    package func pause(of origin: String, now: MonotonicTime) -> (error: TransferError, remaining: Duration)? {
        switch gates[origin]?.state {
        case .paused(let until, let reason): (reason.error, max(.zero, until - now))
        case .probing(_, let reason): (reason.error, .zero)
        default: nil
        }
    }

    /// Whether a refusal of the job says nothing new: it was under way when the origin was closed to others, or it's the one that
    /// tries, while the server is busy with others of ours.
    ///
    /// - Parameter since: When it began.
    package func repeatsOthers(_ job: Int64, at origin: String, since: MonotonicTime) -> Bool {
        guard let gate = gates[origin] else { return false }
        if case .probing(job, _) = gate.state { return table.active(at: origin) > 1 }
        return gate.wasUnderWay(since)
    }

    /// The reasons that keep the jobs of a batch from starting; each job counts once. Of those that are still in the
    /// store as many are counted as are known of.
    package func held(batch: Int64) -> (byNetwork: Int, byOrigin: [String: Int]) {
        var (byNetwork, byOrigin) = (0, [String: Int]())
        let isOpen = network == NetworkGate()
        if !isOpen {
            for state in table.lanes where state.lane.batch == batch && !network.isOpen(state.lane, state.reach) {
                byNetwork += state.jobs
            }
        }
        // Gates are few where lanes may be many.
        for (origin, gate) in gates {
            switch gate.state {
            case .open, .dead: continue
            case .paused, .probing: break
            }
            let jobs = table.lanes(to: origin).reduce(0) { sum, state in
                let counts = state.lane.batch == batch && (isOpen || network.isOpen(state.lane, state.reach))
                return counts ? sum + state.jobs : sum
            }
            if jobs > 0 { byOrigin[origin] = jobs }
        }
        return (byNetwork, byOrigin)
    }

    /// All origins that keep jobs from starting for now.
    package func originWaits() -> Set<OriginWait> {
        Set(
            gates.compactMap { origin, gate in
                switch gate.state {
                case .paused(let until, let reason):
                    OriginWait(origin: origin, until: until, reason.error)
                case .probing(_, let reason):
                    OriginWait(origin: origin, reason.error)
                case .open, .dead: nil
                }
            })
    }
}
