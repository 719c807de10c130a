package import TransferJobs

/// Rules for jobs that are in a batch already when it's staged anew.
package enum RestagingRule {
    /// Whether a job that was staged a moment ago stands there once more: lists are put together from others, and nobody
    /// means a line of one twice. In a job file that is a mistake.
    ///
    /// - Parameter isSame: Nothing of the job is another.
    package static func folds(_ place: JobLocations?, isSame: Bool) -> Bool { isSame && place?.format.isList == true }

    /// Whether a job stays as it is, with its attempts and its wait; the others begin anew. Whoever runs a file again wants
    /// what failed or was held, and a run that goes on doesn't.
    ///
    /// - Parameters:
    ///   - changed: It's to be something else from now on.
    ///   - mayHaveArrived: It failed as nobody knows whether it was done, and nobody has been told of that.
    ///   - isReload: The batch's run goes on.
    package static func stays(_ state: JobState, changed: Bool, mayHaveArrived: Bool, isReload: Bool) -> Bool {
        switch state {
        // A process has it under way.
        case .claimed: true
        case .done, .waiting: !changed
        case .failed: !changed && (mayHaveArrived || isReload)
        case .paused, .skipped, .cancelled: !changed && isReload
        case .queued, .blocked: false
        }
    }
}

/// A job that is in a batch already when it's staged anew, and what becomes of it.
package struct RestagedJob: Sendable {
    package let old: JobState
    /// The content of the job is another one now.
    package let hasChanged: Bool
    /// The job failed as no process knows whether it was done.
    package let isDoubtful: Bool
    package let stays: Bool
    package let isReload: Bool

    /// - Parameter isTold: Whether that doubt was reported.
    package init(_ old: JobState, hasChanged: Bool, isDoubtful: Bool, isReported: Bool = false, isReload: Bool) {
        self.old = old
        self.hasChanged = hasChanged
        self.isDoubtful = isDoubtful
        self.isReload = isReload
        stays = RestagingRule.stays(
            old, changed: hasChanged, mayHaveArrived: isDoubtful && !isReported, isReload: isReload)
    }

    /// A paused job stays paused whatever it becomes.
    package var state: JobState { stays || isReload && old == .paused ? old : .queued }

    package func holds(_ condition: JobChange.Condition) -> Bool {
        switch condition {
        case .isUnchanged: !hasChanged
        case .stays: stays
        case .countContinues: stays || old == .queued && !hasChanged
        case .staysEnded: state.hasEnded
        case .keepsInterruption: !(hasChanged || isDoubtful && !stays)
        }
    }
}
