public import TransferCore

/// The news of a watcher, besides the files themselves.
public enum WatchEvent: Sendable, Hashable {
    /// The watched folder exists and is being read. Reported at the start, unless the folder is missing.
    case rootFound
    /// All folders have been read, and every file that was found has settled and been handled. Only files that a
    /// process has open may remain (``WatchSummary/unfinished``). Reported each time this becomes true, or when their
    /// number changes; a full consumer delays it.
    case caughtUp(WatchSummary)
    /// The kernel's event queue overflowed (`IN_Q_OVERFLOW`). All folders are read again, so that no file is lost.
    case overflowed
    /// The watched folder does not exist (any longer) or cannot be read; also reported at the start. The watcher waits
    /// for it.
    case rootLost(TransferError)
    /// The folder exists again after it was lost, and is read from the beginning.
    case rootReturned
    /// Some or all folders are polled instead of watched. Reported once for each reason.
    case polling(PollingReason)
    /// An object in the folder is not taken. Reported once.
    case leftAlone(path: String, LeftAloneReason)
}

/// The extent of the watched tree.
public struct WatchSummary: Sendable, Hashable {
    /// The number of folders, including the watched one.
    public var folders: Int
    /// The number of folders that are polled.
    public var polledFolders: Int
    /// The number of files that the kernel reports as open for writing. They are taken when they are closed.
    public var unfinished: Int
    /// The paths of some of these files, beneath the watched folder, sorted.
    public var someUnfinished: [String]

    /// Creates a summary from its values.
    public init(folders: Int, polledFolders: Int, unfinished: Int = 0, someUnfinished: [String] = []) {
        self.folders = folders
        self.polledFolders = polledFolders
        self.unfinished = unfinished
        self.someUnfinished = someUnfinished
    }
}

/// The reason why a folder is polled.
public enum PollingReason: Sendable, Hashable {
    /// The option ``FolderWatcher/Options/polls`` is set.
    case asked
    /// The kernel does not report changes made elsewhere on such a file system; the value is its usual name.
    case fileSystem(String)
    /// The kernel has no watches left; the message says how to raise the limit.
    case limit(TransferError)
    /// A folder could not be read, and is tried again.
    case unreadable(TransferError)
}

/// The reason why an object is not taken.
public enum LeftAloneReason: Sendable, Hashable {
    /// The object is a symbolic link that leads out of the watched folder, or to no file.
    case linkLeadsOutside
    /// The name is not UTF-8; the path shows it with replacement characters.
    case nameIsNotText
    /// The folder is already in the tree by another path (a bind mount).
    case sameFolder
}
