/// The ways to take jobs into a batch.
package struct StagingOptions: Sendable, Hashable {
    /// Whether jobs of the batch that are not added again stay; otherwise they are dropped from it.
    package var keepsWhatIsMissing = false
    /// Whether the batch's run continues, so that unchanged jobs stay as they are.
    package var isReload = false
    /// The number of the first jobs of a new batch that may be claimed at once, for a process that stages jobs and runs
    /// them.
    package var claiming = 0
    /// Whether new jobs wait until a user resumes them.
    package var startsPaused = false
    /// Submissions that are remembered with the jobs.
    package var notes: [SubmissionNote] = []
    /// Whether jobs may ask for workers with tags. They are then only checked, for a queue that many machines share.
    package var allowsTags = false

    /// The greatest useful value of ``claiming``, because that number of jobs is held in memory.
    package static let mostClaimed = 16384

    package init(
        keepsWhatIsMissing: Bool = false, isReload: Bool = false, claiming: Int = 0, startsPaused: Bool = false,
        notes: [SubmissionNote] = []
    ) {
        self.notes = notes
        self.startsPaused = startsPaused
        self.keepsWhatIsMissing = keepsWhatIsMissing
        self.isReload = isReload
        self.claiming = claiming
    }
}
