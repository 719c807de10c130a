package import TransferJobs

/// How the jobs of a batch stand.
package struct BatchTally: Sendable {
    package var counts: [JobState: Int] = [:]
    package var watched: FolderTally?

    package init(counts: [JobState: Int] = [:]) { self.counts = counts }
}
