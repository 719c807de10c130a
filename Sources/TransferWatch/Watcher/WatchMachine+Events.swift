import TransferCore

/// The handling of events of inotify(7).
extension WatchMachine {
    mutating func take(_ event: InotifyEvent, at now: MonotonicTime) {
        if event.kind.contains(.overflow) { return overflowed(at: now) }
        guard let id = tree.folder(ofWatch: event.watch) else { return }
        if event.kind.contains(.ignored) {
            // The folder was deleted, which its parent reports as well, or its file system was unmounted.
            tree.setWatch(nil, of: id)
            return tree.markDirty(id)
        }
        let name: String
        switch event.name {
        case .none: return
        case .broken(let broken):
            if let path = tree.path(of: id), !event.kind.contains(.deleted) { leftName(PathText.join(path, broken)) }
            return
        case .text(let text): name = text
        }
        guard let path = tree.path(of: id) else {
            // The file's folder is being moved: the change is found when it has arrived.
            return tree.markDirty(id)
        }
        if event.kind.contains(.folder) {
            folderEvent(event, name, in: id, path: PathText.join(path, name), at: now)
        } else {
            fileEvent(event, in: id, path: PathText.join(path, name), at: now)
        }
    }

    /// Handles an overflow, after which any change is possible: all folders are read again to find new, removed and
    /// renamed files. In a flood of events, the next reading is delayed and then finds all changes.
    private mutating func overflowed(at now: MonotonicTime) {
        for departure in moves.removeAll() { forget(departure.folder) }
        guard rereading.rescanDue == nil else { return }
        let due = rereading.pace.due(at: now)
        if due <= now { rescanAfterOverflow(at: now) } else { rereading.rescanDue = due }
    }

    mutating func rescanAfterOverflow(at now: MonotonicTime) {
        rereading.rescanDue = nil
        rereading.pace.looked(at: now)
        notices.append(.overflowed)
        tree.markAllDirty()
    }

    private mutating func fileEvent(_ event: InotifyEvent, in id: FolderTree.ID, path: String, at now: MonotonicTime) {
        let settled: SettleMachine.Event
        if event.kind.contains(.closedAfterWriting) {
            settled = .closedAfterWriting
        } else if event.kind.contains(.movedTo) {
            settled = .movedIn
        } else if event.kind.contains(.made) {
            settled = .made
        } else if !event.kind.isDisjoint(with: [.movedFrom, .deleted]) {
            settled = .gone
        } else {
            return
        }
        // The file that waits under that name is no longer the same.
        waiting.drop(path)
        guard settled == .gone || options.rules.accepts(file: path) else { return }
        perform(settling.event(settled, path, at: now), in: id, at: now)
    }

    private mutating func folderEvent(
        _ event: InotifyEvent, _ name: String, in id: FolderTree.ID, path: String, at now: MonotonicTime
    ) {
        if event.kind.contains(.movedFrom) {
            guard let child = tree.child(name, of: id) else { return }
            let files = settling.remove(folder: path)
            waiting.drop(folder: path)
            tree.detach(child)
            if let lost = moves.depart(child, with: files, cookie: event.cookie, at: now) { forget(lost.folder) }
        } else if event.kind.contains(.movedTo) {
            arrive(event.cookie, name, in: id, path: path, at: now)
        } else if event.kind.contains(.deleted) {
            if let child = tree.child(name, of: id) { forget(child) }
        } else if event.kind.contains(.made), options.rules.enters(folder: path) {
            tree.meet(name, in: id, isNew: true)
        }
    }

    /// Handles a folder that arrived. A folder of this tree keeps its watches and is read again, because its waiting
    /// files have other paths now.
    private mutating func arrive(
        _ cookie: UInt32, _ name: String, in parent: FolderTree.ID, path: String, at now: MonotonicTime
    ) {
        // The rename replaced an empty folder.
        if let replaced = tree.child(name, of: parent) { forget(replaced) }
        let departure = moves.arrive(cookie: cookie)
        guard options.rules.enters(folder: path) else {
            if let departure { forget(departure.folder) }
            return
        }
        guard let departure, tree[departure.folder] != nil else {
            tree.meet(name, in: parent, isNew: true)
            return
        }
        guard parent != departure.folder, !tree.ancestors(of: parent).contains(departure.folder) else {
            // No rename can do this, so the known tree is wrong.
            forget(departure.folder)
            return tree.markAllDirty()
        }
        tree.attach(departure.folder, as: name, in: parent)
        settling.add(departure.files, folder: path, at: now)
        tree.markDirty(from: departure.folder)
    }
}
