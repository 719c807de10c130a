import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore
import TransferWatch

// The pruning of the upload history, which holds the files in the folder, and not all that ever were.
extension FolderUploader {
    private static let page = 512
    /// The most suspicious files that are checked individually.
    private static let mostSuspects = 1000

    package func pruneIfWorthwhile(isQuiet: Bool) {
        if pruning.isWorthwhile(isQuiet: isQuiet) { prune(onlyGone: false) }
    }

    package func prune(onlyGone: Bool) {
        guard !isStopped, hasRoot, pruning.begin(onlyGone: onlyGone) else { return }
        Task { pruning.ended(rows: await prunePages(onlyGone: onlyGone)) }
    }

    /// Prunes the history, a page at a time.
    ///
    /// - Returns: The number of rows afterwards, if all were checked.
    private func prunePages(onlyGone: Bool) async -> Int? {
        let (folder, root) = (folder, plan.root)
        let grace = times.pruneGrace.inMilliseconds
        var last: Int64 = 0
        var suspects = 0
        var pruned = PrunedRows()
        while !isStopped, hasRoot {
            let after = last
            let rows = await onStore {
                try $0.settledRows(folder: folder, after: after, limit: Self.page, onlyGone: onlyGone)
            }
            guard let rows, let end = rows.last?.id else { break }
            last = end
            let looked = try? await pools.files.run { Self.look(rows, root: root) }
            guard let looked, !isStopped, hasRoot, let (absent, missed) = await absent(looked) else { break }
            let page = await onStore { try $0.prune(present: looked.present, absent: absent, grace: grace) }
            guard let page else { break }
            pruned.add(page)
            suspects += missed.count
            if suspects <= Self.mostSuspects { missed.forEach(suspect) }
        }
        // If too many files have new times, reading the folder finds them.
        if suspects > Self.mostSuspects { watcher?.rescan() }
        counts.keptMore(pruned.returned - pruned.missed)
        tellBacklog()
        if pruned.returned > 0 { actOnDue() }
        let id = batch.id
        if pruned.failedJobs > 0 { host.hear(.changed(batch: id), from: self) }
        if !onlyGone { await forgetOtherNames() }
        let count = onlyGone ? nil : await onStore { try $0.historyCount(folder: folder) }
        if pruned.marked > 0, !isStopped {
            timer(.prune).schedule(at: .now + times.pruneGrace + .milliseconds(10))
        }
        return count
    }

    /// Forgets names that no longer exist, so that they are reported again if they return.
    private func forgetOtherNames() async {
        let (folder, root) = (folder, plan.root)
        var last = ""
        while !isStopped, hasRoot {
            let after = last
            let names = await onStore { try $0.otherNames(folder: folder, after: after, limit: Self.page) }
            guard let names, let end = names.last else { return }
            last = end
            let gone = try? await pools.files.run {
                let places = FolderPlaces(root)
                return names.filter { if case .nothing = places.look($0) { true } else { false } }
            }
            guard let gone, !gone.isEmpty, !isStopped, hasRoot else { continue }
            _ = await onStore { try $0.forgetOtherNames(gone, folder: folder) }
        }
    }

    private struct Looked: Sendable {
        var present: [Int64] = []
        var absent: [Int64] = []
        /// The files that have changed since, with their present versions.
        var changed: [(row: Int64, now: FileVersion)] = []
    }

    private static func look(_ rows: [HistoryRow], root: String) -> Looked {
        let places = FolderPlaces(root)
        var looked = Looked()
        for row in rows {
            let path = row.version.path
            switch places.look(path) {
            case .file(let seen) where row.version.isSame(as: seen.stamp): looked.present.append(row.id)
            case .file(let seen) where row.version.stamp.inode == seen.stamp.inode:
                looked.changed.append((row.id, FileVersion(seen.stamp, path: path)))
            case .file, .nothing:
                // A file counts as absent only if its disk is mounted and it is not just being moved.
                if places.device(above: path) == row.version.stamp.device, !isHidden(row, places) {
                    looked.absent.append(row.id)
                }
            // The state is unknown if the kernel gives no clear answer.
            case .unclear: break
            }
        }
        return looked
    }

    private static func isHidden(_ row: HistoryRow, _ places: FolderPlaces) -> Bool {
        let folder = places.open(WatchedPath.folder(row.version.path))
        return folder >= 0 && FolderPlaces.file(AfterUpload.hiddenName(of: row), in: folder) != nil
    }

    /// Returns rows whose file is gone, including former versions of files whose present version is known. Other
    /// changed files are checked once more, because setting a time causes no event.
    private func absent(_ looked: Looked) async -> (rows: [Int64], suspects: [String])? {
        guard !looked.changed.isEmpty else { return (looked.absent, []) }
        let folder = folder
        guard let looks = await onStore({ try $0.look(looked.changed.map(\.now), folder: folder) }) else { return nil }
        var absent = looked.absent
        var suspects: [String] = []
        for (changed, look) in zip(looked.changed, looks) {
            switch look {
            case .known, .returned, .onOtherDevice, .elsewhere: absent.append(changed.row)
            case .otherTime, .unknown, .renumbered, .replaced: suspects.append(changed.now.path)
            }
        }
        return (absent, suspects)
    }
}
