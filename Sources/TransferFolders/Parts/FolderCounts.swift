/// The numbers of waiting files of a watched folder: to be uploaded, and to be moved or deleted afterwards.
package struct FolderCounts {
    /// The number of jobs that have not ended, as of the last stamped transaction.
    package private(set) var open: Int
    private var stamp: Int
    /// The number of confirmed files that are not due yet; counted only if files are kept for a while.
    package private(set) var kept: Int
    private let countsKept: Bool
    private var reported: (waiting: Int, kept: Int)?
    /// Whether the folder was last reported to hold files that are not counted.
    private var holdsMore = false

    package init(open: Int, stamp: Int, kept: Int, countsKept: Bool) {
        self.open = open
        self.stamp = stamp
        self.kept = kept
        self.countsKept = countsKept
    }

    /// Notes the jobs that a transaction left open; the latest transaction counts.
    package mutating func note(open: Int, stamp: Int) {
        guard stamp >= self.stamp else { return }
        (self.open, self.stamp) = (open, stamp)
    }

    /// Notes whether the folder holds files that are not counted yet.
    ///
    /// - Returns: Whether that has changed.
    package mutating func isNews(holdsMore: Bool) -> Bool {
        defer { self.holdsMore = holdsMore }
        return holdsMore != self.holdsMore
    }

    package mutating func keptMore(_ count: Int) { if countsKept { kept = max(0, kept + count) } }

    /// Takes the numbers for a report.
    ///
    /// - Returns: The numbers to report; `nil` if they were reported already.
    package mutating func news() -> (waiting: Int, kept: Int)? {
        guard reported.map({ $0 != (open, kept) }) ?? true else { return nil }
        reported = (open, kept)
        return reported
    }
}
