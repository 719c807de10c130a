public import TransferCore

/// News of a watcher besides the files themselves.
public enum WatchEvent: Sendable, Hashable {
    /// The watched folder is there, and is being read; told at the start, unless it's missing.
    case rootFound
    /// All folders have been read, every file that was found has settled and has been handled: nothing is under way but
    /// files that somebody has open (``WatchSummary/unfinished``). Told each time that this becomes so, or that there are
    /// more or fewer of those; it takes long where the consumer is full.
    case caughtUp(WatchSummary)
    /// The kernel's queue of events ran over (`IN_Q_OVERFLOW`); everything is read anew, so nothing is lost.
    case overflowed
    /// The watched folder isn't there (any more), or can't be read; also told at the start. It's waited for.
    case rootLost(TransferError)
    /// The folder is there after it was lost, and is read from the beginning.
    case rootReturned
    /// Some or all folders are read again and again instead of being watched. Told once for each reason.
    case polling(PollingReason)
    /// Something in the folder isn't taken. Told once.
    case leftAlone(path: String, LeftAloneReason)
}

/// The extent of what is watched.
public struct WatchSummary: Sendable, Hashable {
    /// Folders, the watched one included.
    public var folders: Int
    /// The number of folders that are polled.
    public var polledFolders: Int
    /// Files that somebody has open for writing, as far as the kernel tells: they are taken when they are closed.
    public var unfinished: Int
    /// The paths of some of them, beneath the watched folder, sorted.
    public var someUnfinished: [String]

    public init(folders: Int, polledFolders: Int, unfinished: Int = 0, someUnfinished: [String] = []) {
        self.folders = folders
        self.polledFolders = polledFolders
        self.unfinished = unfinished
        self.someUnfinished = someUnfinished
    }
}

/// Why a folder is polled.
public enum PollingReason: Sendable, Hashable {
    /// ``FolderWatcher/Options/polls``
    case asked
    /// The kernel tells nothing of what others do on such a file system; its name, as people know it.
    case fileSystem(String)
    /// The kernel has no watches left; the message says how to raise the limit.
    case limit(TransferError)
    /// A folder couldn't be read, and is tried again.
    case unreadable(TransferError)
}

/// Why something isn't taken.
public enum LeftAloneReason: Sendable, Hashable {
    /// A symbolic link that leads out of the watched folder, or nowhere.
    case linkLeadsOutside
    /// A name that isn't UTF-8; the path shows it with replacement characters.
    case nameIsNotText
    /// A folder that is in the tree by another path already (a bind mount).
    case sameFolder
}
