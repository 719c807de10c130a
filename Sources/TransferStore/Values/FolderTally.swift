package import TransferJobs

/// Counts of the jobs that are for versions of a watched folder's files.
package struct FolderTally: Sendable {
    package var counts: [JobState: Int] = [:]
    /// The order of tallies: of two the later one holds.
    package var stamp = 0

    package init(counts: [JobState: Int] = [:], stamp: Int = 0) {
        self.counts = counts
        self.stamp = stamp
    }

    /// Jobs that haven't ended.
    package var open: Int { counts.values.reduce(0, +) - counts.ended }
}
