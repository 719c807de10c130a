import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferStore

/// The runner, as far as batches of watched folders need it.
protocol WatchHost: PartHost {
    var folders: WatchedBatches { get }
    var batches: RunningBatches { get }
    /// Whether the run goes on when there is nothing to do.
    var isEndless: Bool { get }
    var isStopping: Bool { get }
    /// Secrets of jobs, which no store has.
    var knownSecrets: [Int64: JobSecrets] { get }
    func remember(_ secrets: [Int64: JobSecrets])
    func forgetSecrets(of job: Int64)
    /// An upload that was begun is given up for good.
    func abandon(_ upload: AbandonedUpload)
    func becameReady(_ lane: Lane, _ count: Int, overtakes: Bool)
    /// Takes the batch into the run.
    func join(_ batch: HeldBatch)
    func refreshFromStore(_ batch: Int64)
    /// The store may have something to be told of the batch.
    func tellHooks(of batch: Int64, revivesFailed: Bool)
    /// What has no retries left of the batch's messages waits for the next run.
    func endHooks(ofFolder batch: Int64)
    func storeFailed(_ error: any Error)
}

/// Batches of watched folders: they stay open while they are watched, and jobs come and go in them.
final class WatchedBatches {
    private(set) var registry = WatchRegistry()

    subscript(batch: Int64) -> FolderUploader? { registry[batch] }

    var all: [FolderUploader] { registry.all }

    /// The folder that is watched for the batch of that name.
    func root(ofBatch name: String) -> String? { registry.all.first { $0.plan.batch == name }?.plan.root }

    /// - Returns: Whether nobody watches it here.
    func reserve(_ name: String) -> Bool { registry.reserve(name) }

    func release(_ name: String) { registry.release(name) }

    /// - Returns: Whether the version may be queued anew for its digest.
    func mayQueueAnew(_ version: UnreadVersion) -> Bool { registry.mayQueueAnew(version) }

    func hear(_ news: FolderNotification, from uploader: FolderUploader, on host: isolated some WatchHost) {
        switch news {
        case .began(let batch, let changes): began(uploader, batch: batch, changes, on: host)
        case .took(let batch, let changes): took(uploader, batch: batch, changes, on: host)
        case .tookLast(let batch, let changes): tookLast(batch, changes, on: host)
        case .woke(let batch, let woken): apply(woken.changes, to: batch, on: host)
        case .changed(let batch): host.refreshFromStore(batch)
        case .ended(let batch): unwatch(batch, on: host)
        case .storeFailed(let error): host.storeFailed(error)
        }
    }

    private func began(
        _ uploader: FolderUploader, batch: HeldBatch, _ changes: HistoryChanges, on host: isolated some WatchHost
    ) {
        registry.set(uploader, of: batch.id)
        apply(changes, to: batch, on: host)
        // What was given up before, as when the folder was left to be watched by other rules.
        if host.batches.isInRun(batch.id) { host.tellHooks(of: batch.id, revivesFailed: true) }
        // Jobs that were queued already may have come by another origin, or other rules of the network.
        guard !host.batches.isInRun(batch.id) else { return host.refreshFromStore(batch.id) }
        guard host.isEndless else { return }
        host.join(batch)
        host.pump()
    }

    func took(
        _ uploader: FolderUploader, batch: HeldBatch, _ changes: HistoryChanges, on host: isolated some WatchHost
    ) {
        registry.set(uploader, of: batch.id)
        apply(changes, to: batch, on: host)
    }

    /// Files that were still taken when the keeper had stopped go on as in a batch that nobody watches.
    private func tookLast(_ batch: HeldBatch, _ changes: HistoryChanges, on host: isolated some WatchHost) {
        remember(changes, on: host)
        guard !host.isStopping else { return }
        if host.batches.isInRun(batch.id) {
            host.refreshFromStore(batch.id)
        } else if host.isEndless {
            host.join(batch)
            host.pump()
        }
    }

    private func unwatch(_ batch: Int64, on host: isolated some WatchHost) {
        guard let uploader = registry.remove(batch) else { return }
        registry.release(uploader.plan.batch)
        host.endHooks(ofFolder: batch)
        if host.batches.isInRun(batch) { host.refreshFromStore(batch) }
    }

    /// Takes folders into the run that were watched before it began.
    func addAll(on host: isolated some WatchHost) {
        for uploader in registry.all {
            let batch = uploader.onLoop { $0.batch }
            if !host.batches.isInRun(batch.id) { host.join(batch) }
        }
    }

    private func remember(_ changes: HistoryChanges, on host: isolated some WatchHost) {
        host.remember(changes.secrets)
        for id in changes.removed { host.forgetSecrets(of: id) }
        for upload in changes.abandoned { host.abandon(upload) }
    }

    private func apply(_ changes: HistoryChanges, to batch: HeldBatch, on host: isolated some WatchHost) {
        remember(changes, on: host)
        guard !host.isStopping, changes.added != 0 || !changes.ready.isEmpty else { return }
        guard let run = host.batches[batch.id], !run.isFinished else {
            guard host.isEndless else { return }
            host.join(batch)
            return host.pump()
        }
        guard run.isChecked else { return host.refreshFromStore(batch.id) }
        guard run.count(changes) else { return host.pump() }
        let overtakes = registry[batch.id] != nil
        for (lane, count) in changes.ready { host.becameReady(lane, count, overtakes: overtakes) }
        host.pump()
    }

    // MARK: Ends of jobs

    /// Another hand than that of jobs' ends may have made room.
    func tell(_ batch: Int64, _ tally: BatchTally) {
        guard let uploader = registry[batch], let watched = tally.watched else { return }
        uploader.onLoop { $0.jobsEnded([], open: watched.open, stamp: watched.stamp) { _ in nil } }
    }

    /// Tells keepers which ends of their jobs were recorded.
    func tell(_ ends: [JobEnd], _ recorded: WatchedEnds, on host: isolated some WatchHost) {
        for (upload, hasSecrets) in recorded.abandoned {
            let known = host.knownSecrets[upload.id]
            guard !hasSecrets || known != nil else { continue }
            host.abandon(
                AbandonedUpload(
                    id: upload.id, spec: known?.restore(upload.spec) ?? upload.spec, upload: upload.upload))
        }
        for (batch, ids) in recorded.superseded {
            host.batches[batch]?.leave(ids.count)
            for id in ids { host.forgetSecrets(of: id) }
        }
        for (batch, open) in recorded.open {
            guard let uploader = registry[batch] else { continue }
            let own = recorded.ends.filter { $0.batch == batch }
            uploader.onLoop { uploader in
                uploader.jobsEnded(own, open: open, stamp: recorded.stamp) { index in
                    guard case .failed(let error, _, _) = ends[index].outcome else { return nil }
                    return (error, ends[index].again)
                }
            }
        }
    }
}
