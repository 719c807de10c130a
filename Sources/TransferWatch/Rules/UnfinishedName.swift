/// The names that programs give to unfinished files, and to files beside an open file. In watched folders they are
/// ignored until they are renamed; such folders are ignored with all their content.
///
/// A name of this kind begins with a dot (such as `.#name` of Emacs, `.~lock.name#` of LibreOffice and `.name.swp` of
/// vim) or with `~$` (Microsoft Office). Or it is between two `#` (Emacs), or ends in `~`, `.part`, `.tmp`, `.filepart`
/// (WinSCP), `.crdownload` (Chromium) or `.aria2` (aria2). The case of letters does not matter.
public enum UnfinishedName {
    /// The features of a name that mark an unfinished file.
    struct Marks: OptionSet, Sendable, Hashable {
        let rawValue: Int

        static let dot = Marks(rawValue: 1)
        static let tilde = Marks(rawValue: 1 << 1)
        static let ownerFile = Marks(rawValue: 1 << 2)
        static let hashes = Marks(rawValue: 1 << 3)
        /// The name of a file that this program is moving or deleting (`.transfer-` and two numbers); no pattern takes
        /// it.
        static let own = Marks(rawValue: 1 << 4)
        /// Returns the mark of the ending with that number.
        static func ending(_ index: Int) -> Marks { Marks(rawValue: 1 << (8 + index)) }
    }

    private static let endings = [".part", ".tmp", ".filepart", ".crdownload", ".aria2"].map { Array($0.utf8) }

    /// Returns the marks of a name.
    ///
    /// - Parameter name: The name of a file or a folder, or the last part of a pattern, of which only literal
    ///   characters count.
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
    /// Returns whether the pattern spells these marks itself: `.env` and `.*` spell the dot, `*.part` the ending, `*`
    /// neither.
    func namesMarks(_ marks: UnfinishedName.Marks) -> Bool {
        lastNames.contains { UnfinishedName.marks(of: $0).isSuperset(of: marks) }
    }

    /// Returns whether the pattern spells the marks of a folder and matches files in it.
    ///
    /// - Parameters:
    ///   - path: The path of the folder, beneath the watched one.
    ///   - marks: The marks of its name.
    func namesFolder(_ path: String, _ marks: UnfinishedName.Marks) -> Bool {
        beginnings(matching: path).contains { UnfinishedName.marks(of: $0).isSuperset(of: marks) }
    }
}
