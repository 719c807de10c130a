package import TransferJobs

/// The numbers of a batch's jobs, by state.
package struct BatchTally: Sendable {
    package var counts: [JobState: Int] = [:]
    package var watched: FolderTally?

    package init(counts: [JobState: Int] = [:]) { self.counts = counts }
}
