package import TransferCore
import TransferJobs

// The jobs that their origins keep from starting.
extension Scheduler {
    /// Returns why jobs of this origin wait, if the origin is the reason.
    package func pause(of origin: String, now: MonotonicTime) -> (error: TransferError, remaining: Duration)? {
        switch breakers[origin]?.state {
        case .open(let until, let reason): (reason.error, max(.zero, until - now))
        case .halfOpen(_, let reason): (reason.error, .zero)
        default: nil
        }
    }

    /// Returns whether a refusal of the job is no news. Either it was under way when the origin was closed, or it is
    /// the probe while the server is busy with other jobs of this process.
    ///
    /// - Parameter since: The time when the job began.
    package func repeatsOthers(_ job: Int64, at origin: String, since: MonotonicTime) -> Bool {
        guard let breaker = breakers[origin] else { return false }
        if case .halfOpen(job, _) = breaker.state { return table.active(at: origin) > 1 }
        return breaker.wasUnderWay(since)
    }

    /// Returns the reasons that keep the jobs of a batch from starting; each job counts once. Jobs that are still in
    /// the store are counted to the extent that they are known.
    package func held(batch: Int64) -> (byNetwork: Int, byOrigin: [String: Int]) {
        var (byNetwork, byOrigin) = (0, [String: Int]())
        let isOpen = network == NetworkGate()
        if !isOpen {
            for state in table.lanes where state.lane.batch == batch && !network.isOpen(state.lane, state.reach) {
                byNetwork += state.jobs
            }
        }
        // Gates are few, while lanes may be many.
        for (origin, breaker) in breakers {
            switch breaker.state {
            case .closed, .exhausted: continue
            case .open, .halfOpen: break
            }
            let jobs = table.lanes(to: origin).reduce(0) { sum, state in
                let counts = state.lane.batch == batch && (isOpen || network.isOpen(state.lane, state.reach))
                return counts ? sum + state.jobs : sum
            }
            if jobs > 0 { byOrigin[origin] = jobs }
        }
        return (byNetwork, byOrigin)
    }

    /// Returns all origins that keep jobs from starting for now.
    package func originWaits() -> Set<OriginWait> {
        Set(
            breakers.compactMap { origin, breaker in
                switch breaker.state {
                case .open(let until, let reason):
                    OriginWait(origin: origin, until: until, reason.error)
                case .halfOpen(_, let reason):
                    OriginWait(origin: origin, reason.error)
                case .closed, .exhausted: nil
                }
            })
    }
}
