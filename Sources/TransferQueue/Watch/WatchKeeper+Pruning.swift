import TransferCore
import TransferEngine
import TransferEventLoop
import TransferWatch

// The ledger holds what is in the folder, and not all that ever was.
extension WatchKeeper {
    private static let page = 512

    /// Looks through the ledger when it has grown by as much as it held, so that this costs little for each file.
    func pruneIfWorthwhile(isQuiet: Bool) {
        let isWorthwhile =
            isQuiet
            ? !hasPruned || takenSincePruning >= max(1000, rowsAtPruning / 4)
            : takenSincePruning >= max(4000, rowsAtPruning)
        if isWorthwhile { prune(onlyGone: false) }
    }

    func prune(onlyGone: Bool) {
        guard !isPruning, !isStopped, hasRoot else { return }
        isPruning = true
        if !onlyGone {
            hasPruned = true
            takenSincePruning = 0
        }
        Task {
            await prunePages(onlyGone: onlyGone)
            isPruning = false
        }
    }

    private func prunePages(onlyGone: Bool) async {
        let (folder, root) = (folder, plan.root)
        let grace = times.pruneGrace.inMilliseconds
        var last: Int64 = 0
        var pruned = SQLiteStore.Pruned()
        while !isStopped, hasRoot {
            let after = last
            let rows = await onStore {
                try $0.settledRows(folder: folder, after: after, limit: Self.page, onlyGone: onlyGone)
            }
            guard let rows, let end = rows.last?.id else { break }
            last = end
            let looked = try? await pools.files.run { Self.look(rows, root: root) }
            guard let looked, !isStopped, hasRoot else { break }
            let page = await onStore { try $0.prune(present: looked.present, absent: looked.absent, grace: grace) }
            guard let page else { break }
            pruned.marked += page.marked
            pruned.removed += page.removed
            pruned.failedJobs += page.failedJobs
        }
        let id = batch.id
        if pruned.failedJobs > 0 { onRunner { $0.refreshFromStore(id) } }
        if !onlyGone { rowsAtPruning = await onStore { try $0.ledgerCount(folder: folder) } ?? rowsAtPruning }
        guard pruned.marked > 0, !isStopped else { return }
        let timer =
            pruneTimer
            ?? loop.makeTimer { [weak self] in
                self?.assumeIsolated { $0.prune(onlyGone: true) }
            }
        pruneTimer = timer
        timer.schedule(at: .now + times.pruneGrace + .milliseconds(10))
    }

    private static func look(_ rows: [LedgerRow], root: String) -> (present: [Int64], absent: [Int64]) {
        let places = FolderPlaces(root)
        var looked: (present: [Int64], absent: [Int64]) = ([], [])
        for row in rows {
            if places.file(row.version.path).map({ row.version.isSame(as: $0) }) ?? false {
                looked.present.append(row.id)
            } else if places.device(above: row.version.path) == row.version.device {
                looked.absent.append(row.id)
            }
            // Else the disk that it's on isn't there.
        }
        return looked
    }

    // MARK: Files that changed before their upload

    /// A time that is set (utimensat(2)) is no event of the folder: if nobody offers the file as it is now, the folder
    /// is read again.
    func suspect(_ path: String) {
        guard suspects.count < 10_000, !isStopped else { return }
        suspects.insert(path)
        let timer =
            suspectTimer
            ?? loop.makeTimer { [weak self] in
                self?.assumeIsolated { $0.checkSuspects() }
            }
        suspectTimer = timer
        if !timer.isScheduled { timer.schedule(at: .now + plan.spec.settle + times.offerGrace) }
    }

    private func checkSuspects() {
        let paths = suspects
        suspects = []
        let (folder, root, settle) = (folder, plan.root, plan.spec.settle)
        Task {
            let versions = try? await pools.files.run {
                let places = FolderPlaces(root)
                let now = Int64(WallClock.now * 1e9)
                return paths.compactMap { path -> FileVersion? in
                    // One that isn't quiet is settling.
                    guard let file = places.file(path), .nanoseconds(now - file.changed) > settle * 2 else {
                        return nil
                    }
                    return FileVersion(
                        device: file.device, inode: file.inode, size: file.facts.size, modified: file.facts.modified,
                        path: path)
                }
            }
            guard let versions, !versions.isEmpty, !isStopped else { return }
            let looks = await onStore { try $0.look(versions, folder: folder) } ?? []
            let isMissed = looks.contains { look in
                switch look {
                case .unknown, .otherTime: true
                case .known, .onOtherDevice, .elsewhere: false
                }
            }
            if isMissed { watcher?.rescan() }
        }
    }
}
