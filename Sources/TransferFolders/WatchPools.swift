package import TransferEventLoop

/// The threads for watched folders, which start when there is work for them.
package struct WatchPools: Sendable {
    /// The thread that reads folders, in short steps.
    package let folders = WorkerPool(name: "watch", threads: 1)
    /// The threads that read, move and delete files, which may take long.
    package let files = WorkerPool(name: "watch-files", threads: 2)
    /// The thread that reads and writes the upload history.
    package let store = WorkerPool(name: "watch-store", threads: 1)

    package init() {
    }

    package func stop() {
        folders.stop()
        files.stop()
        store.stop()
    }
}

/// The delays of a watched folder.
package struct WatchTimes: Sendable {
    /// The time before a missing file's row is removed, since a rename may not be known yet.
    package var pruneGrace = Duration.seconds(60)
    /// The delays before a file that could not be moved or deleted is retried.
    package var thenAgain = FailedFiles.Delays(first: .seconds(10), most: .seconds(3600))
    /// The delays before a failed file is retried.
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
