/// Rules that say which files of a folder are taken.
public struct WatchRules: Sendable, Hashable {
    /// When there are any, one of them has to match.
    public var include: [GlobPattern]
    /// None of them may match the file, or a folder that it's in.
    public var exclude: [GlobPattern]
    /// Whether files in sub-folders are taken.
    public var isRecursive: Bool

    public init(include: [GlobPattern] = [], exclude: [GlobPattern] = [], isRecursive: Bool = false) {
        self.include = include
        self.exclude = exclude
        self.isRecursive = isRecursive
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
        if Self.isTemporary(PathText.name(path)) { return false }
        if exclude.contains(where: { !$0.isForFoldersOnly && $0.matches(path) }) { return false }
        return include.isEmpty || include.contains { $0.matches(path) }
    }

    /// Whether what is in a sub-folder may be taken; the folders above it have been asked about before.
    public func enters(folder path: String) -> Bool {
        isRecursive && !Self.isTemporary(PathText.name(path)) && !exclude.contains { $0.matches(path) }
    }

    /// Names that programs give to what isn't finished: they are left alone until they are renamed, folders with all
    /// that is in them. Those are names that begin with a dot, or end in `~`, `.part`, `.tmp`, `.filepart` (WinSCP) or
    /// `.crdownload` (Chromium), in any case of letters.
    public static func isTemporary(_ name: some StringProtocol) -> Bool {
        let bytes = Substring(name).utf8
        if bytes.first == UInt8(ascii: ".") || bytes.last == UInt8(ascii: "~") { return true }
        return endings.contains { ending in
            bytes.count >= ending.count
                && bytes.suffix(ending.count).elementsEqual(ending) { $0 == $1 || $0 | 0x20 == $1 }
        }
    }

    private static let endings = [".part", ".tmp", ".filepart", ".crdownload"].map { Array($0.utf8) }
}
