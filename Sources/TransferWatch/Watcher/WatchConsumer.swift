/// The consumer of the files. It records the files that it has handled, and reports when it is full.
public protocol WatchConsumer: Sendable {
    /// Takes a batch of settled files. No other batch is offered before this returns.
    ///
    /// The same version may be offered again: after each start, after an overflow of the kernel's event queue, after
    /// the rename of a folder, and on request (``FolderWatcher/look(at:)``). The consumer therefore has to look each up
    /// by its ``FileVersion/identity-swift.property`` and ``FileVersion/path``. A version that is known with another
    /// path is another name of the file (a hard link), or was renamed. If there is no file at the recorded path,
    /// pending work should continue at the new one. A version is handled when it is recorded durably, or known to be.
    ///
    /// A file may have changed or gone since it settled (``FileVersion/isCurrent(in:)``). It is offered again then,
    /// except after a change of its time or length by name, which causes no event. A consumer that finds another
    /// version should request it.
    ///
    /// - Parameter files: The files, at most ``FolderWatcher/Options/capacity``, in the order in which they should be
    ///   uploaded.
    /// - Returns: The number of files that have been handled, from the first on. If it is smaller than the batch, the
    ///   consumer is full. The watcher keeps the others, offers no more, and soon stops reading, until
    ///   ``FolderWatcher/proceed()``.
    func offer(_ files: [FileVersion]) async -> Int

    /// Takes files that are ignored because they are older than ``FolderWatcher/Options/since``, each time that reading
    /// finds them. Reading continues only after this returns.
    func leave(_ files: [FileVersion]) async
}

extension WatchConsumer {
    /// Ignores the files.
    public func leave(_ files: [FileVersion]) async {}
}
