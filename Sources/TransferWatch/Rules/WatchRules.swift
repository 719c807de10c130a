/// Rules that say which files of a folder are taken.
public struct WatchRules: Sendable, Hashable {
    /// When there are any, one of them has to match. One that writes the mark of an unfinished name itself (`.env`, `*.part`)
    /// takes such names too (``UnfinishedName``).
    public var include: [GlobPattern]
    /// None of them may match the file, or a folder that it's in.
    public var exclude: [GlobPattern]
    /// Whether files in sub-folders are taken.
    public var isRecursive: Bool
    /// Whether names of unfinished files are left alone, which is right while other programs write to the folder. A folder
    /// that is sent once as it is has no such names.
    public var leavesUnfinished: Bool

    public init(
        include: [GlobPattern] = [], exclude: [GlobPattern] = [], isRecursive: Bool = false,
        leavesUnfinished: Bool = true
    ) {
        self.include = include
        self.exclude = exclude
        self.isRecursive = isRecursive
        self.leavesUnfinished = leavesUnfinished
    }

    /// Whether a file may be taken, wherever it is.
    ///
    /// - Parameter path: Beneath the watched folder.
    public func takes(file path: String) -> Bool {
        var folder = String(PathText.folder(path))
        while !folder.isEmpty {
            guard enters(folder: folder) else { return false }
            folder = String(PathText.folder(folder))
        }
        return accepts(file: path)
    }

    /// - Parameter path: Beneath the watched folder; in a folder that ``enters(folder:)`` lets in.
    public func accepts(file path: String) -> Bool {
        if exclude.contains(where: { !$0.isForFoldersOnly && $0.matches(path) }) { return false }
        let marks = leavesUnfinished ? UnfinishedName.marks(of: PathText.name(path)) : []
        guard !marks.isEmpty else { return include.isEmpty || include.contains { $0.matches(path) } }
        guard !marks.contains(.own) else { return false }
        return include.contains { $0.namesMarks(marks) && $0.matches(path) }
    }

    /// Whether what is in a sub-folder may be taken; the folders above it have been asked about before.
    public func enters(folder path: String) -> Bool {
        guard isRecursive, !exclude.contains(where: { $0.matches(path) }) else { return false }
        let marks = leavesUnfinished ? UnfinishedName.marks(of: PathText.name(path)) : []
        return marks.isEmpty || !marks.contains(.own) && include.contains { $0.namesFolder(path, marks) }
    }

    /// Whether a name is one that programs give to an unfinished file.
    public static func isTemporary(_ name: some StringProtocol) -> Bool { !UnfinishedName.marks(of: name).isEmpty }
}
