/// How many files of a watched folder wait: to be uploaded, and to be moved or deleted after that.
package struct FolderCounts {
    /// Jobs that haven't ended, by the transaction with that stamp.
    package private(set) var open: Int
    private var stamp: Int
    /// Confirmed files whose time hasn't come; counted where files are kept for a while.
    package private(set) var kept: Int
    private let countsKept: Bool
    private var reported: (waiting: Int, kept: Int)?
    /// Whether the folder was last said to hold files that aren't counted.
    private var holdsMore = false

    package init(open: Int, stamp: Int, kept: Int, countsKept: Bool) {
        self.open = open
        self.stamp = stamp
        self.kept = kept
        self.countsKept = countsKept
    }

    /// Notes the jobs that a transaction left open; a later transaction has the last word.
    package mutating func note(open: Int, stamp: Int) {
        guard stamp >= self.stamp else { return }
        (self.open, self.stamp) = (open, stamp)
    }

    /// Notes whether the folder holds files that aren't counted yet.
    ///
    /// - Returns: Whether that has changed.
    package mutating func isNews(holdsMore: Bool) -> Bool {
        defer { self.holdsMore = holdsMore }
        return holdsMore != self.holdsMore
    }

    package mutating func keptMore(_ count: Int) { if countsKept { kept = max(0, kept + count) } }

    /// - Returns: What is to be told; `nil` where it was told already.
    package mutating func news() -> (waiting: Int, kept: Int)? {
        guard reported.map({ $0 != (open, kept) }) ?? true else { return nil }
        reported = (open, kept)
        return reported
    }
}
