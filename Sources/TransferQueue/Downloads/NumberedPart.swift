import TransferEngine

/// The name of a partial file that had to avoid an existing one: `NAME.1.part`, `NAME.2.part`, ….
struct NumberedPart: Sendable, Hashable {
    /// The name of the complete file.
    let file: String
    /// The number, 1 to 99.
    let number: Int

    /// The number of names that are tried for a partial file, including `NAME.part`, before a user has to clean up the
    /// folder.
    static let count = 100

    private static let end = Array(".part".utf8)

    /// Parses the name of a file in a folder.
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
        // Other spellings of the number, such as leading zeros, are not names of this scheme.
        guard Array(PartName.path(of: file, number: number).utf8) == Array(name) else { return nil }
    }

    /// Returns the number of the partial file to continue: the one with the most bytes of the file, and among equal
    /// ones the first.
    ///
    /// - Parameter found: The numbers of partial files, and the recorded bytes of this very file in each.
    static func best(_ found: [(number: Int, bytes: Int64)]) -> Int? {
        found.filter { $0.bytes > 0 }.max { ($0.bytes, -$0.number) < ($1.bytes, -$1.number) }?.number
    }
}
