/// The rules that decide which files of a folder are taken.
public struct WatchRules: Sendable, Hashable {
    /// The patterns of files to take; empty for all files. A pattern that spells the mark of an unfinished name itself
    /// (`.env`, `*.part`) also takes such names (``UnfinishedName``).
    public var include: [GlobPattern]
    /// The patterns that must match neither the file nor a folder that contains it.
    public var exclude: [GlobPattern]
    /// Whether files in sub-folders are taken.
    public var isRecursive: Bool
    /// Whether names of unfinished files are ignored, which is right while other programs write to the folder. A folder
    /// that is sent once as it is has no such names.
    public var leavesUnfinished: Bool

    /// Creates rules; without arguments, they take all finished files of the folder itself.
    public init(
        include: [GlobPattern] = [], exclude: [GlobPattern] = [], isRecursive: Bool = false,
        leavesUnfinished: Bool = true
    ) {
        self.include = include
        self.exclude = exclude
        self.isRecursive = isRecursive
        self.leavesUnfinished = leavesUnfinished
    }

    /// Returns whether a file may be taken, wherever it is.
    ///
    /// - Parameter path: The path beneath the watched folder.
    public func takes(file path: String) -> Bool {
        var folder = String(PathText.folder(path))
        while !folder.isEmpty {
            guard enters(folder: folder) else { return false }
            folder = String(PathText.folder(folder))
        }
        return accepts(file: path)
    }

    /// Returns whether a file may be taken, if its folder is one that ``enters(folder:)`` allows.
    ///
    /// - Parameter path: The path beneath the watched folder.
    public func accepts(file path: String) -> Bool {
        if exclude.contains(where: { !$0.isForFoldersOnly && $0.matches(path) }) { return false }
        let marks = leavesUnfinished ? UnfinishedName.marks(of: PathText.name(path)) : []
        guard !marks.isEmpty else { return include.isEmpty || include.contains { $0.matches(path) } }
        guard !marks.contains(.own) else { return false }
        return include.contains { $0.namesMarks(marks) && $0.matches(path) }
    }

    /// Returns whether files in a sub-folder may be taken, if this is so for the folders above it.
    public func enters(folder path: String) -> Bool {
        guard isRecursive, !exclude.contains(where: { $0.matches(path) }) else { return false }
        let marks = leavesUnfinished ? UnfinishedName.marks(of: PathText.name(path)) : []
        return marks.isEmpty || !marks.contains(.own) && include.contains { $0.namesFolder(path, marks) }
    }

    /// Returns whether a name is one that programs give to an unfinished file.
    public static func isTemporary(_ name: some StringProtocol) -> Bool { !UnfinishedName.marks(of: name).isEmpty }
}
