/// How jobs are taken into a batch.
package struct StagingOptions: Sendable, Hashable {
    /// Jobs that aren't added stay; else they are dropped from the batch.
    package var keepsWhatIsMissing = false
    /// The batch's run goes on: unchanged jobs stay as they are.
    package var isReload = false
    /// The number of the first jobs of a new batch that may be claimed at once: the process that stages them runs them
    /// too.
    package var claiming = 0
    /// New jobs wait until somebody resumes them.
    package var startsPaused = false
    /// Submissions that are remembered with the jobs.
    package var notes: [SubmissionNote] = []
    /// Jobs may ask for workers with tags: they are only looked at, and meant for a queue that many machines share.
    package var allowsTags = false

    /// The greatest useful value of ``claiming``: so many jobs are held in memory.
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
