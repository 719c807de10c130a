package import TransferJobs
package import TransferStore

/// Something of a watched folder that the queue has to know which runs its jobs.
package enum FolderNotification: Sendable {
    /// The folder is watched from now on, by this batch.
    case began(HeldBatch, HistoryChanges)
    /// Files were taken.
    case took(HeldBatch, HistoryChanges)
    /// Files were still taken when watching had ended: they go on as in a batch that nobody watches.
    case tookLast(HeldBatch, HistoryChanges)
    /// Files that had failed are ready again.
    case woke(HeldBatch, WokenFiles)
    /// Another hand has changed jobs of the batch.
    case changed(batch: Int64)
    /// Nobody watches it any more.
    case ended(batch: Int64)
    case storeFailed(any Error)
}

/// The queue that runs the jobs of watched folders. It lives on the loop of their keepers: no hop, and nothing comes in
/// between.
package protocol FolderHost: Sendable {
    func hear(_ news: FolderNotification, from uploader: FolderUploader)
    /// All folders that are watched now.
    func watchedSpecs() -> [WatchSpec]
}
