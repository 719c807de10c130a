import TransferCore

/// The handling of outcomes of steps.
extension WatchMachine {
    /// Notes that the folder is open, and watched if possible.
    mutating func began(_ id: FolderTree.ID, _ beginning: Beginning) {
        guard reading == id, let path = tree.path(of: id) else {
            // The folder vanished while it was being opened.
            endReading(id)
            if case .set(let watch) = beginning.watch, tree.folder(ofWatch: watch) == nil { endedWatches.append(watch) }
            return
        }
        if tree.ancestors(of: id).contains(where: { tree[$0]?.identity == beginning.identity }) {
            // The folder contains itself by a bind mount, so that reading it would never end.
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
            // The old watch belongs to the folder that something was mounted on.
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
        // Another folder has the same name now.
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

    /// Notes that a folder could not be opened.
    mutating func failed(_ id: FolderTree.ID, _ error: TransferError) {
        endReading(id)
        guard tree[id] != nil, let path = tree.path(of: id) else { return }
        if error.code == .fileMissing {
            forget(id)
        } else {
            poll(id, .unreadable(error), once: "unreadable \(path)")
        }
    }

    /// Takes some entries of the folder that is being read.
    mutating func read(_ id: FolderTree.ID, _ entries: Entries, at now: MonotonicTime) {
        guard reading == id, let folder = tree[id] else { return endReading(id) }
        guard let path = tree.path(of: id) else {
            // The folder is being moved, so it is read from the beginning after its arrival.
            tree.markDirty(id)
            return endReading(id)
        }
        for found in entries.files { take(found, in: folder, path: PathText.join(path, found.name), at: now) }
        for name in entries.folders where options.rules.enters(folder: PathText.join(path, name)) {
            // Until all folders have been read once, only the content of a new folder is known to be new.
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

    /// Takes the results of inspections.
    ///
    /// - Parameter sights: The result for each file that the step named.
    mutating func looked(_ sights: [(path: String, sight: FileSnapshot)], at now: MonotonicTime) {
        for (path, sight) in sights {
            if sight == .linkLeadsOutside { leftLink(path) }
            perform(settling.event(.looked(sight.look), path, at: now), at: now)
        }
    }

    /// Performs an action of the settling.
    ///
    /// - Parameter folder: The folder to read again if there is no room for the file; `nil` for the one that is being
    ///   read.
    mutating func perform(_ action: SettleMachine.Action, in folder: FolderTree.ID? = nil, at now: MonotonicTime) {
        switch action {
        case .none: break
        case .take(let version): waiting.add(version, at: now)
        case .full: if let id = folder ?? reading { tree.markDirty(id) }
        }
    }

    /// Takes the identity of a folder.
    ///
    /// - Parameter identity: The identity of the folder at the path that was inspected.
    mutating func identified(_ id: FolderTree.ID, _ identity: FolderIdentity?) {
        guard let conflict, conflict.other == id else { return }
        resolve(isStillThere: identity != nil && identity == tree[id]?.identity)
    }

    /// Resolves a conflict of two paths with the same watch, which are the same folder. Either there is a bind mount,
    /// or the folder was renamed and the events were lost.
    mutating func resolve(isStillThere: Bool) {
        guard let conflict else { return }
        self.conflict = nil
        guard let path = tree.path(of: conflict.folder), tree.folder(ofWatch: conflict.watch) == conflict.other else {
            // One of them has vanished meanwhile, perhaps with the watch.
            tree.markDirty(conflict.folder)
            return endReading(conflict.folder)
        }
        if isStillThere { return leaveAlone(conflict.folder, path: path) }
        // The watch is kept, and the content of the folder is found again.
        tree.setWatch(nil, of: conflict.other)
        forget(conflict.other)
        guard tree[conflict.folder] != nil else { return }
        setWatch(conflict.watch, of: conflict.folder)
        tree.beginReading(conflict.folder)
    }

    mutating func endReading(_ id: FolderTree.ID) {
        if reading == id { reading = nil }
    }

    /// Forgets a folder that is gone, with all its content.
    mutating func forget(_ id: FolderTree.ID) {
        // A folder that is being moved has no path, and its files were taken out when it left.
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
