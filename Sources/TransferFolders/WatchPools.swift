import TransferEventLoop

/// Threads for watched folders; they start when there is something for them.
struct WatchPools: Sendable {
    /// Reads folders, in short steps.
    let folders = WorkerPool(name: "watch", threads: 1)
    /// Reads, moves and deletes files, which may take long.
    let files = WorkerPool(name: "watch-files", threads: 2)
    /// Asks the ledger, and writes to it.
    let store = WorkerPool(name: "watch-store", threads: 1)

    func stop() {
        folders.stop()
        files.stop()
        store.stop()
    }
}

/// How long a watched folder waits for what.
struct WatchTimes: Sendable {
    /// A file that isn't at its path may have been renamed, which isn't known yet.
    var pruneGrace = Duration.seconds(60)
    /// Until a file that couldn't be moved or deleted is tried again.
    var thenAgain = Duration.seconds(3600)
    /// Until a file that failed is tried again.
    var again = FailedFiles.Delays()
}
