/// The consumer that gets the files: it keeps the record of what it has had, and says when it's full.
public protocol WatchConsumer: Sendable {
    /// Asked with settled files, one batch at a time: no other one is offered before this has returned.
    ///
    /// The same version comes again: after each start, after the kernel's queue of events ran over, when a folder was
    /// renamed, and when it was asked for (``FolderWatcher/look(at:)``). So each is looked up by its
    /// ``FileVersion/identity-swift.property`` and ``FileVersion/path``. One that is known with another path is either
    /// another name of that file (a hard link), or the file was renamed: when nothing is at the path that was recorded,
    /// work that isn't done goes on at the new one. A version counts as handled when it is recorded durably, or known to be.
    ///
    /// A file may have changed or gone since it settled (``FileVersion/isCurrent(in:)``); it's offered anew if so,
    /// unless a program has set its time or its length by name, which no event tells of. Who finds another version asks for
    /// that one.
    ///
    /// - Parameter files: At most ``FolderWatcher/Options/capacity`` of them, in the order they should go in.
    /// - Returns: How many of them, from the first, have been handled. With fewer than all the consumer is full: the
    ///   others stay with the watcher, which offers nothing and soon reads nothing, until ``FolderWatcher/proceed()``.
    func offer(_ files: [FileVersion]) async -> Int

    /// Told of files that are left alone because they were there before ``FolderWatcher/Options/since``, each time that
    /// they're found by reading; nothing more is read before this has returned.
    func leave(_ files: [FileVersion]) async
}

extension WatchConsumer {
    public func leave(_ files: [FileVersion]) async {}
}
