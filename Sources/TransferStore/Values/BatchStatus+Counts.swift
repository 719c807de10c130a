package import TransferJobs

extension BatchStatus {
    package mutating func add(_ state: JobState, _ count: Int) {
        total += count
        switch state {
        case .queued, .claimed: remaining += count
        case .waiting, .blocked:
            remaining += count
            waiting += count
        case .paused:
            remaining += count
            waiting += count
            paused += count
        case .done: done += count
        case .failed: failed += count
        case .skipped: skipped += count
        case .cancelled: cancelled += count
        }
    }
}
