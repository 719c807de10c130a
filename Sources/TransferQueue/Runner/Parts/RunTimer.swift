import TransferEventLoop

/// The timers of a run; each is made when it's first needed.
enum RunTimer: Hashable, Sendable {
    /// The scheduler's next turn, or that of a sleeping job.
    case wake
    /// Finished downloads that wait for company.
    case save
    /// Progress.
    case tick
    /// Records that gather.
    case record
    /// The longest that a stop waits for the disk.
    case stop
    /// The next look at the network.
    case network
    /// The next look at transfers that may hang.
    case stalls
    /// An abandoned upload's next try, by the number of its dialogue.
    case abandonment(Int)
}

extension QueueRunner {
    func timer(_ which: RunTimer) -> LoopTimer {
        if let timer = timers[which] { return timer }
        let timer = loop.makeTimer { [weak self] in self?.onLoop { $0.fired(which) } }
        timers[which] = timer
        return timer
    }

    private func fired(_ timer: RunTimer) {
        switch timer {
        case .wake: wake()
        case .save:
            downloads.saveGroup(on: self)
            pump()
        case .tick: reporter.tick(on: self)
        case .record: pump()
        case .stop: endStopping()
        case .network:
            following.review(on: self)
            pump()
        case .stalls: following.lookForStalls(on: self)
        case .abandonment(let number):
            timers[timer] = nil
            abandonments.again(number, on: self)
            pump()
        }
    }
}
