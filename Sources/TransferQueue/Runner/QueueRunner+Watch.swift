import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop

// Batches of watched folders: they stay open while they are watched, and jobs come and go in them.
extension QueueRunner: FolderHost {
    nonisolated func hear(_ news: FolderNews, from keeper: WatchKeeper) {
        onLoop { runner in
            switch news {
            case .began(let batch, let changes): runner.began(keeper, batch: batch, changes)
            case .took(let batch, let changes): runner.took(keeper, batch: batch, changes)
            case .tookLast(let batch, let changes): runner.tookLast(batch, changes)
            case .woke(let batch, let woken): runner.apply(woken.changes, to: batch)
            case .changed(let batch): runner.refreshFromStore(batch)
            case .ended(let batch): runner.unwatch(batch)
            case .storeFailed(let error): runner.storeFailed(error)
            }
        }
    }

    /// - Returns: Whether nobody watches it here.
    func reserveWatch(_ name: String) -> Bool { watches.reserve(name) }

    func releaseWatch(_ name: String) { watches.release(name) }

    private func began(_ keeper: WatchKeeper, batch: HeldBatch, _ changes: LedgerChanges) {
        watches.set(keeper, of: batch.id)
        apply(changes, to: batch)
        if batches[batch.id].map(\.isFinished) ?? true {
            guard state.isEndless else { return }
            add(batch, secrets: [:], options: RunOptions())
            pump()
        } else {
            // What was queued already may have come by another origin, or other rules of the network.
            refreshFromStore(batch.id)
        }
    }

    func took(_ keeper: WatchKeeper, batch: HeldBatch, _ changes: LedgerChanges) {
        watches.set(keeper, of: batch.id)
        apply(changes, to: batch)
    }

    /// What was still taken when its keeper had stopped goes on as in a batch that nobody watches.
    private func tookLast(_ batch: HeldBatch, _ changes: LedgerChanges) {
        remember(changes)
        guard state.stopping == nil else { return }
        if let run = batches[batch.id], !run.isFinished {
            refreshFromStore(batch.id)
        } else if state.isEndless {
            add(batch, secrets: [:], options: RunOptions())
            pump()
        }
    }

    private func unwatch(_ batch: Int64) {
        guard let keeper = watches.remove(batch) else { return }
        releaseWatch(keeper.plan.batch)
        if batches[batch].map({ !$0.isFinished }) ?? false { refreshFromStore(batch) }
    }

    /// For the end of the queue.
    func watchers() -> [WatchKeeper] { watches.all }

    /// Folders that were watched before the run began.
    func addWatched() {
        for keeper in watches.all {
            let batch = keeper.onLoop { $0.batch }
            if batches[batch.id].map(\.isFinished) ?? true { add(batch, secrets: [:], options: RunOptions()) }
        }
    }

    private func remember(_ changes: LedgerChanges) {
        memory.secrets.merge(changes.secrets) { $1 }
        for id in changes.removed { memory.secrets[id] = nil }
        for upload in changes.abandoned { abandon(upload) }
    }

    private func apply(_ changes: LedgerChanges, to batch: HeldBatch) {
        remember(changes)
        guard state.stopping == nil, changes.added != 0 || !changes.ready.isEmpty else { return }
        guard let run = batches[batch.id], !run.isFinished else {
            guard state.isEndless else { return }
            add(batch, secrets: [:], options: RunOptions())
            return pump()
        }
        guard run.isChecked else { return refreshFromStore(batch.id) }
        // The store was counted after that.
        guard changes.stamp > run.stamp else { return pump() }
        batches[batch.id]?.stamp = changes.stamp
        batches[batch.id]?.remaining += changes.added + changes.revived
        batches[batch.id]?.totals.jobs += changes.added
        batches[batch.id]?.totals.failed -= changes.revived
        let overtakes = watches[batch.id] != nil
        for (lane, count) in changes.ready { becameReady(lane, count, overtakes: overtakes) }
        pump()
    }

    /// Another hand than that of jobs' ends may have made room.
    func tellWatch(of batch: Int64, _ tally: BatchTally) {
        guard let keeper = watches[batch], let watched = tally.watched else { return }
        keeper.onLoop { $0.jobsEnded([], open: watched.open, stamp: watched.stamp) { _ in nil } }
    }

    /// What was recorded of jobs of watched folders.
    func tellWatches(_ ends: [JobEnd], _ recorded: WatchedEnds) {
        for (upload, hasSecrets) in recorded.abandoned {
            let known = memory.secrets[upload.id]
            guard !hasSecrets || known != nil else { continue }
            abandon(
                AbandonedUpload(
                    id: upload.id, spec: known?.restore(upload.spec) ?? upload.spec, upload: upload.upload))
        }
        for (batch, ids) in recorded.superseded {
            batches[batch]?.remaining -= ids.count
            batches[batch]?.totals.jobs -= ids.count
            for id in ids { memory.secrets[id] = nil }
        }
        for (batch, open) in recorded.open {
            guard let keeper = watches[batch] else { continue }
            let own = recorded.ends.filter { $0.batch == batch }
            keeper.onLoop { keeper in
                keeper.jobsEnded(own, open: open, stamp: recorded.stamp) { index in
                    guard case .failed(let error, _, _) = ends[index].outcome else { return nil }
                    return (error, ends[index].again)
                }
            }
        }
    }
}

extension OpenedSource {
    /// Opens the version that a job of a watched folder is for. Blocks: for workers.
    ///
    /// - Throws: `superseded` when the file is gone, or is another version.
    init(_ path: String, version: WatchedVersion) throws(TransferError) {
        let file: SourceFile
        do throws(TransferError) {
            file = try SourceFile(path, readingUpTo: Self.smallSize)
        } catch {
            guard error.code == .fileMissing || error.errno == ENOTDIR || error.errno == ELOOP else { throw error }
            throw TransferError(.superseded, "\(path) is gone", cause: error.cause)
        }
        try self.init(file, version: version)
        guard !isProven, let digest, version.stamp.changed != nil,
            file.currentStamp().map(version.stamp.likeness) != .same
        else { return }
        // Something may have given it other bytes and its former time.
        guard try FileDigest.compute(file, digest.algorithm, 0..<file.size) == digest else {
            throw TransferError(.superseded, "\(path) has other bytes than were queued")
        }
    }

    /// - Throws: `superseded` when it's another version.
    init(_ file: SourceFile, version: WatchedVersion) throws(TransferError) {
        self.init(file: file, digest: version.digest)
        isProven = version.needsProof(of: file) && version.hasBytes(of: file)
        guard isProven || version.stamp.isSameVersion(as: file.currentStamp()) else {
            throw TransferError(.superseded, "\(file.path) is another version than was queued")
        }
    }
}

extension WatchedVersion {
    /// Whether only its bytes tell that a file is this version: it was touched or copied since, or an attempt may have sent
    /// it before.
    func needsProof(of file: SourceFile) -> Bool {
        guard fingerprint != nil || digest != nil, file.size == stamp.size else { return false }
        return mustProve || !stamp.isSameVersion(as: file.currentStamp())
    }

    fileprivate func hasBytes(of file: SourceFile) -> Bool {
        let before = file.currentStamp()
        let isSame: Bool
        if let digest {
            isSame = (try? FileDigest.compute(file, digest.algorithm, 0..<file.size)) == digest
        } else {
            isSame = file.fingerprint() == fingerprint
        }
        return isSame && file.look() == .same && file.currentStamp() == before
    }
}

extension TransferError.Code {
    /// There is nothing to upload any more; ends a job without failing it.
    static let superseded = Self(rawValue: "superseded")
}
