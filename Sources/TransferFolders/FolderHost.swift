package import TransferJobs
package import TransferStore

/// The news of a watched folder for the queue that runs its jobs.
package enum FolderNotification: Sendable {
    /// The folder is watched from now on, with this batch.
    case began(HeldBatch, HistoryChanges)
    /// Files were taken into the queue.
    case took(HeldBatch, HistoryChanges)
    /// Files were taken while watching ended; they continue as jobs of an ordinary batch.
    case tookLast(HeldBatch, HistoryChanges)
    /// Files that had failed are ready again.
    case woke(HeldBatch, WokenFiles)
    /// The batch has jobs that another party changed.
    case changed(batch: Int64)
    /// The folder is no longer watched.
    case ended(batch: Int64)
    case storeFailed(any Error)
}

/// The queue that runs the jobs of watched folders. It is on the loop of their uploaders, so that calls are direct and
/// uninterrupted.
package protocol FolderHost: Sendable {
    func hear(_ news: FolderNotification, from uploader: FolderUploader)
    /// Returns all folders that are watched now.
    func watchedSpecs() -> [WatchSpec]
}
