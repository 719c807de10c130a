import TransferEngine

/// The name of a partial file that had to give way to another one: `NAME.1.part`, `NAME.2.part`, ….
struct NumberedPart: Sendable, Hashable {
    /// The name that the file is to get.
    let file: String
    /// 1 to 99.
    let number: Int

    /// Names that are tried for a partial file, `NAME.part` among them, before somebody has to look what is in the folder.
    static let count = 100

    private static let end = Array(".part".utf8)

    /// Reads the name of a file in a folder.
    ///
    /// - Returns: `nil` for other names.
    init?(_ name: some BidirectionalCollection<UInt8>) {
        guard name.reversed().starts(with: Self.end.reversed()) else { return nil }
        let numbered = name.dropLast(Self.end.count)
        guard let dot = numbered.lastIndex(of: UInt8(ascii: ".")), dot > numbered.startIndex,
            let number = Int(String(decoding: numbered[numbered.index(after: dot)...], as: UTF8.self)),
            1..<Self.count ~= number
        else { return nil }
        file = String(decoding: numbered[..<dot], as: UTF8.self)
        self.number = number
        // Nothing but the plain number is a name of ours.
        guard Array(PartName.path(of: file, number: number).utf8) == Array(name) else { return nil }
    }

    /// The partial file, of several, that is gone on with: the one that has the most of the file, and of equal ones the
    /// first.
    ///
    /// - Parameter found: Their numbers, and how many bytes of this very file each has on record.
    static func best(_ found: [(number: Int, bytes: Int64)]) -> Int? {
        found.filter { $0.bytes > 0 }.max { ($0.bytes, -$0.number) < ($1.bytes, -$1.number) }?.number
    }
}
