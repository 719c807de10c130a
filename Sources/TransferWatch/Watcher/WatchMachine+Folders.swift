import TransferCore

/// Outcomes of steps.
extension WatchMachine {
    /// The folder is open, and watched as far as that goes.
    mutating func began(_ id: FolderTree.ID, _ beginning: Beginning) {
        guard reading == id, let path = tree.path(of: id) else {
            // The folder went while it was opened.
            endReading(id)
            if case .set(let watch) = beginning.watch, tree.folder(ofWatch: watch) == nil { endedWatches.append(watch) }
            return
        }
        if tree.ancestors(of: id).contains(where: { tree[$0]?.identity == beginning.identity }) {
            // The folder in itself, by a bind mount: reading that has no end.
            return leaveAlone(id, path: path)
        }
        tree.setIdentity(beginning.identity, of: id)
        switch beginning.watch {
        case .set(let watch):
            if let other = tree.folder(ofWatch: watch), other != id {
                conflict = Conflict(folder: id, other: other, watch: watch)
                return
            }
            setWatch(watch, of: id)
        case .refused(let refusal):
            isOutOfWatches = true
            poll(id, .limit(refusal.error), once: "limit \(refusal)")
        case .none:
            // The old watch is of the folder that was there before something was mounted on it.
            if let old = tree[id]?.watch { endedWatches.append(old) }
            tree.setWatch(nil, of: id)
            if let name = beginning.remoteFileSystem {
                poll(id, .fileSystem(name), once: "file system \(name)")
            } else {
                tree.setPolled(true, of: id)
            }
        }
        tree.beginReading(id)
    }

    private mutating func setWatch(_ watch: Int32, of id: FolderTree.ID) {
        // Another folder is there under the same name.
        if let old = tree[id]?.watch, old != watch { endedWatches.append(old) }
        tree.setWatch(watch, of: id)
        tree.setPolled(false, of: id)
    }

    private mutating func poll(_ id: FolderTree.ID, _ reason: PollingReason, once subject: String) {
        tree.setPolled(true, of: id)
        tell(.polling(reason), once: subject)
    }

    private mutating func leaveAlone(_ id: FolderTree.ID, path: String) {
        endReading(id)
        endedWatches += tree.remove(id)
        tell(.leftAlone(path: path, .sameFolder), once: "same \(path)")
    }

    /// A folder couldn't be opened.
    mutating func failed(_ id: FolderTree.ID, _ error: TransferError) {
        endReading(id)
        guard tree[id] != nil, let path = tree.path(of: id) else { return }
        if error.code == .fileMissing {
            forget(id)
        } else {
            poll(id, .unreadable(error), once: "unreadable \(path)")
        }
    }

    /// Some entries of the folder that is being read.
    mutating func read(_ id: FolderTree.ID, _ entries: Entries, at now: MonotonicTime) {
        guard reading == id, let folder = tree[id] else { return endReading(id) }
        guard let path = tree.path(of: id) else {
            // The folder is being moved: read it from the beginning where it arrives.
            tree.markDirty(id)
            return endReading(id)
        }
        for found in entries.files { take(found, in: folder, path: PathText.join(path, found.name), at: now) }
        for name in entries.folders where options.rules.enters(folder: PathText.join(path, name)) {
            // Until all have been read once, only what is in a new folder is known to be new.
            tree.meet(name, in: id, isNew: folder.isNew || hasReadThrough)
        }
        for name in entries.links { leftLink(PathText.join(path, name)) }
        for name in entries.brokenNames { leftName(PathText.join(path, name)) }
        switch entries.end {
        case .more: return
        case .end:
            for child in tree.unmet(in: id) { forget(child) }
        case .failed(let error): poll(id, .unreadable(error), once: "unreadable \(path)")
        }
        endReading(id)
    }

    private mutating func take(
        _ found: Entries.Found, in folder: FolderTree.Folder, path: String, at now: MonotonicTime
    ) {
        let version = found.look.version(path)
        if let since = options.since, let changed = version.stamp.changed, changed < since, !folder.isNew {
            return old.append(version)
        }
        if waiting.contains(version) || folder.isPolled && seen.contains(version) { return }
        perform(settling.event(.found(found.look), path, at: now), at: now)
    }

    /// - Parameter sights: For each file that the step named.
    mutating func looked(_ sights: [(path: String, sight: FileSnapshot)], at now: MonotonicTime) {
        for (path, sight) in sights {
            if sight == .linkLeadsOutside { leftLink(path) }
            perform(settling.event(.looked(sight.look), path, at: now), at: now)
        }
    }

    /// - Parameter folder: What to read again when there is no room for the file; what is being read when `nil`.
    mutating func perform(_ action: SettleMachine.Action, in folder: FolderTree.ID? = nil, at now: MonotonicTime) {
        switch action {
        case .none: break
        case .take(let version): waiting.add(version, at: now)
        case .full: if let id = folder ?? reading { tree.markDirty(id) }
        }
    }

    /// - Parameter identity: Of the folder that is at the path of the one that was asked about.
    mutating func identified(_ id: FolderTree.ID, _ identity: FolderIdentity?) {
        guard let conflict, conflict.other == id else { return }
        resolve(isStillThere: identity != nil && identity == tree[id]?.identity)
    }

    /// Two paths have the same watch, so they are the same folder: either by a bind mount, or it was renamed and the
    /// events of that are lost.
    mutating func resolve(isStillThere: Bool) {
        guard let conflict else { return }
        self.conflict = nil
        guard let path = tree.path(of: conflict.folder), tree.folder(ofWatch: conflict.watch) == conflict.other else {
            // One of them is gone meanwhile, and the watch perhaps with it.
            tree.markDirty(conflict.folder)
            return endReading(conflict.folder)
        }
        if isStillThere { return leaveAlone(conflict.folder, path: path) }
        // The watch stays, and what is beneath is found again.
        tree.setWatch(nil, of: conflict.other)
        forget(conflict.other)
        guard tree[conflict.folder] != nil else { return }
        setWatch(conflict.watch, of: conflict.folder)
        tree.beginReading(conflict.folder)
    }

    mutating func endReading(_ id: FolderTree.ID) {
        if reading == id { reading = nil }
    }

    /// A folder is gone, with all that is in it.
    mutating func forget(_ id: FolderTree.ID) {
        // One that is being moved has no path, and what was in it was taken out when it left.
        if let path = tree.path(of: id), !path.isEmpty {
            settling.remove(folder: path)
            waiting.drop(folder: path)
        }
        endedWatches += tree.remove(id)
        if let reading, tree[reading] == nil { self.reading = nil }
    }

    mutating func leftLink(_ path: String) { tell(.leftAlone(path: path, .linkLeadsOutside), once: "link \(path)") }

    mutating func leftName(_ path: String) { tell(.leftAlone(path: path, .nameIsNotText), once: "name \(path)") }
}
