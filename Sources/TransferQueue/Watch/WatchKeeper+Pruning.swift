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
            guard let looked, !isStopped, hasRoot, let absent = await absent(looked) else { break }
            let page = await onStore { try $0.prune(present: looked.present, absent: absent, grace: grace) }
            guard let page else { break }
            pruned.add(page)
        }
        if plan.spec.keepFor != nil { kept = max(0, kept + pruned.returned - pruned.missed) }
        if pruned.returned > 0 { actOnDue() }
        let id = batch.id
        if pruned.failedJobs > 0 { onRunner { $0.refreshFromStore(id) } }
        if !onlyGone { rowsAtPruning = await onStore { try $0.ledgerCount(folder: folder) } ?? rowsAtPruning }
        guard pruned.marked > 0, !isStopped else { return }
        let timer =
            pruneTimer
            ?? loop.makeTimer { [weak self] in
                self?.onLoop { $0.prune(onlyGone: true) }
            }
        pruneTimer = timer
        timer.schedule(at: .now + times.pruneGrace + .milliseconds(10))
    }

    private struct Looked: Sendable {
        var present: [Int64] = []
        var absent: [Int64] = []
        /// Files that have changed since, with what they are now.
        var changed: [(row: Int64, now: FileVersion)] = []
    }

    private static func look(_ rows: [LedgerRow], root: String) -> Looked {
        let places = FolderPlaces(root)
        var looked = Looked()
        for row in rows {
            let path = row.version.path
            switch places.look(path) {
            case .file(let seen) where row.version.isSame(as: seen): looked.present.append(row.id)
            case .file(let seen) where row.version.inode == seen.inode:
                looked.changed.append((row.id, FileVersion(seen, path: path)))
            case .file, .nothing:
                // Else the disk that it's on isn't there, or the file is just being moved.
                if places.device(above: path) == row.version.device, !isHidden(row, places) {
                    looked.absent.append(row.id)
                }
            // Nobody knows while the kernel doesn't say.
            case .unclear: break
            }
        }
        return looked
    }

    private static func isHidden(_ row: LedgerRow, _ places: FolderPlaces) -> Bool {
        let folder = places.open(WatchedPath.folder(row.version.path))
        return folder >= 0 && FolderPlaces.file(AfterUpload.hiddenName(of: row), in: folder) != nil
    }

    /// What isn't there: also former versions of files whose present one is known. Of others nobody has heard, as a
    /// time that is set is no event; they are looked at once more.
    private func absent(_ looked: Looked) async -> [Int64]? {
        guard !looked.changed.isEmpty else { return looked.absent }
        let folder = folder
        guard let looks = await onStore({ try $0.look(looked.changed.map(\.now), folder: folder) }) else { return nil }
        var absent = looked.absent
        for (changed, look) in zip(looked.changed, looks) {
            switch look {
            case .known, .returned, .onOtherDevice, .elsewhere: absent.append(changed.row)
            case .otherTime, .unknown: suspect(changed.now.path)
            }
        }
        return absent
    }

    // MARK: Files that changed before their upload

    /// A time that is set (utimensat(2)) is no event of the folder: if nobody offers the file as it is now, the folder
    /// is read again.
    func suspect(_ path: String) {
        guard suspects.count < Self.mostSuspects, !isStopped else { return }
        suspects.insert(PathKey(path))
        let timer =
            suspectTimer
            ?? loop.makeTimer { [weak self] in
                self?.onLoop { $0.checkSuspects() }
            }
        suspectTimer = timer
        if !timer.isScheduled { timer.schedule(at: .now + plan.spec.settle + times.offerGrace) }
    }

    private func checkSuspects() {
        let paths = suspects.map(\.text)
        suspects = []
        let (folder, root, settle, plan) = (folder, plan.root, plan.spec.settle, plan)
        Task {
            let found = try? await pools.files.run {
                let places = FolderPlaces(root)
                let now = Int64(WallClock.now * 1e9)
                var found: (quiet: [FileVersion], settling: [String]) = ([], [])
                for path in paths {
                    guard case .file(let file) = places.look(path) else { continue }
                    if .nanoseconds(now - file.changed) > settle * 2 {
                        found.quiet.append(FileVersion(file, path: path))
                    } else {
                        found.settling.append(path)
                    }
                }
                return found
            }
            guard let found, !isStopped else { return }
            for path in found.settling { suspect(path) }
            let versions = found.quiet
            guard !versions.isEmpty else { return }
            let looks = await onStore { try $0.look(versions, folder: folder) } ?? []
            let isMissed = zip(versions, looks).contains { version, look in
                switch look {
                case .unknown, .otherTime, .returned: true
                case .known(let row): row.state == .confirmed && plan.mayHaveOtherBytes(version, than: row)
                case .onOtherDevice, .elsewhere: false
                }
            }
            if isMissed { watcher?.rescan() }
        }
    }
}
