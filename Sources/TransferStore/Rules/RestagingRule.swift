package import TransferJobs

/// Rules for jobs that are in a batch already when it is staged anew.
package enum RestagingRule {
    /// Returns whether a job is dropped because the same staging has taken it already. Lists are combined from other
    /// lists, where a repeated line has no meaning. In a job file it is a mistake.
    ///
    /// - Parameter isSame: Whether the two jobs have the same content.
    package static func folds(_ place: JobLocations?, isSame: Bool) -> Bool { isSame && place?.format.isList == true }

    /// Returns whether a job stays as it is, with its attempts and its wait; other jobs begin anew. A user that runs a
    /// file again wants its failed and held jobs tried again; the reload of a run under way does not.
    ///
    /// - Parameters:
    ///   - changed: Whether the job has other content from now on.
    ///   - mayHaveArrived: Whether the job failed because it is unknown whether its upload arrived, and that was not
    ///     reported yet.
    ///   - isReload: Whether the batch's run continues.
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

/// A job that is in a batch already when it is staged anew, and its new state.
package struct RestagedJob: Sendable {
    package let old: JobState
    /// Whether the job has other content now.
    package let hasChanged: Bool
    /// Whether the job failed because no process knows if its upload arrived.
    package let isDoubtful: Bool
    package let stays: Bool
    package let isReload: Bool

    /// Creates the description of a job that is staged again.
    ///
    /// - Parameter isReported: Whether the doubt about the upload was reported.
    package init(_ old: JobState, hasChanged: Bool, isDoubtful: Bool, isReported: Bool = false, isReload: Bool) {
        self.old = old
        self.hasChanged = hasChanged
        self.isDoubtful = isDoubtful
        self.isReload = isReload
        stays = RestagingRule.stays(
            old, changed: hasChanged, mayHaveArrived: isDoubtful && !isReported, isReload: isReload)
    }

    /// The new state of the job. A paused job stays paused in a reload, even with other content.
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
