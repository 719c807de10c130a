/// Names that programs give to what isn't finished, and to what stands beside a file while it is open. In watched folders
/// they are left alone until they are renamed, folders with all that is in them.
///
/// Those are names that begin with a dot (`.#name` of Emacs, `.~lock.name#` of LibreOffice and `.name.swp` of vim among
/// them) or with `~$` (Microsoft Office), that stand between two `#` (Emacs), or that end in `~`, `.part`, `.tmp`,
/// `.filepart` (WinSCP), `.crdownload` (Chromium) or `.aria2` (aria2), in any case of letters.
public enum UnfinishedName {
    /// What of a name says that the file isn't finished.
    struct Marks: OptionSet, Sendable, Hashable {
        let rawValue: Int

        static let dot = Marks(rawValue: 1)
        static let tilde = Marks(rawValue: 1 << 1)
        static let ownerFile = Marks(rawValue: 1 << 2)
        static let hashes = Marks(rawValue: 1 << 3)
        /// A file that this program is moving or deleting (`.transfer-` and two numbers): no pattern takes it.
        static let own = Marks(rawValue: 1 << 4)
        /// Of the ending with that number.
        static func ending(_ index: Int) -> Marks { Marks(rawValue: 1 << (8 + index)) }
    }

    private static let endings = [".part", ".tmp", ".filepart", ".crdownload", ".aria2"].map { Array($0.utf8) }

    /// - Parameter name: Of a file or a folder; or the last part of a pattern, of which only what it writes out counts.
    static func marks(of name: some StringProtocol) -> Marks {
        let bytes = Array(name.utf8)
        var marks: Marks = []
        if bytes.first == UInt8(ascii: ".") { marks.insert(.dot) }
        if bytes.last == UInt8(ascii: "~") { marks.insert(.tilde) }
        if bytes.starts(with: "~$".utf8) { marks.insert(.ownerFile) }
        if bytes.count > 2, bytes.first == UInt8(ascii: "#"), bytes.last == UInt8(ascii: "#") { marks.insert(.hashes) }
        for (index, ending) in endings.enumerated() where bytes.count >= ending.count {
            let isEnding = bytes.suffix(ending.count).elementsEqual(ending) { $0 == $1 || $0 | 0x20 == $1 }
            if isEnding { marks.insert(.ending(index)) }
        }
        if marks.contains(.dot), isOwn(bytes) { marks.insert(.own) }
        return marks
    }

    private static func isOwn(_ name: [UInt8]) -> Bool {
        let prefix = Array(".transfer-".utf8)
        guard name.starts(with: prefix) else { return false }
        let numbers = name[prefix.count...].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return numbers.count == 2
            && numbers.allSatisfy { number in
                !number.isEmpty && number.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}

extension GlobPattern {
    /// Whether the pattern writes these marks itself: `.env` and `.*` write the dot, `*.part` the ending, `*` neither.
    func namesMarks(_ marks: UnfinishedName.Marks) -> Bool {
        lastNames.contains { UnfinishedName.marks(of: $0).isSuperset(of: marks) }
    }

    /// Whether the pattern writes the marks of a folder, and takes something in it.
    ///
    /// - Parameters:
    ///   - path: The folder, beneath the watched one.
    ///   - marks: Of its name.
    func namesFolder(_ path: String, _ marks: UnfinishedName.Marks) -> Bool {
        beginnings(matching: path).contains { UnfinishedName.marks(of: $0).isSuperset(of: marks) }
    }
}
