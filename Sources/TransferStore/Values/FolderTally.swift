package import TransferJobs

/// The numbers of jobs for versions of a watched folder's files, by state.
package struct FolderTally: Sendable {
    package var counts: [JobState: Int] = [:]
    /// A number that orders tallies: of two the later one holds.
    package var stamp = 0

    package init(counts: [JobState: Int] = [:], stamp: Int = 0) {
        self.counts = counts
        self.stamp = stamp
    }

    /// The number of jobs that have not ended.
    package var open: Int { counts.values.reduce(0, +) - counts.ended }
}
