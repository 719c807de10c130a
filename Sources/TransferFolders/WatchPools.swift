package import TransferEventLoop

/// Threads for watched folders; they start when there is something for them.
package struct WatchPools: Sendable {
    /// Reads folders, in short steps.
    package let folders = WorkerPool(name: "watch", threads: 1)
    /// Reads, moves and deletes files, which may take long.
    package let files = WorkerPool(name: "watch-files", threads: 2)
    /// Asks the ledger, and writes to it.
    package let store = WorkerPool(name: "watch-store", threads: 1)

    package init() {
    }

    package func stop() {
        folders.stop()
        files.stop()
        store.stop()
    }
}

/// How long a watched folder waits for what.
package struct WatchTimes: Sendable {
    /// A file that isn't at its path may have been renamed, which isn't known yet.
    package var pruneGrace = Duration.seconds(60)
    /// Until a file that couldn't be moved or deleted is tried again.
    package var thenAgain = FailedFiles.Delays(first: .seconds(10), most: .seconds(3600))
    /// Until a file that failed is tried again.
    package var again = FailedFiles.Delays()

    package init(
        pruneGrace: Duration = Duration.seconds(60),
        thenAgain: FailedFiles.Delays = FailedFiles.Delays(first: .seconds(10), most: .seconds(3600)),
        again: FailedFiles.Delays = FailedFiles.Delays()
    ) {
        self.pruneGrace = pruneGrace
        self.thenAgain = thenAgain
        self.again = again
    }
}
