@testable import TransferEngine

/// The check that an accepted head can be read in one way only.
enum HeadCheck {
    static func check(_ bytes: [UInt8]) throws {
        guard let judged = try? HeadRule.judge(bytes) else { return }
        let lines = judged.split(separator: 0x0A, omittingEmptySubsequences: true)
        var lengths = 0
        for line in lines {
            let isFold = line.first == 0x20 || line.first == 0x09
            try require(!isFold, "a fold is left")
            guard let value = value(of: "content-length", in: line) else { continue }
            lengths += 1
            let isNumber = !value.isEmpty && value.count <= 18 && value.allSatisfy { (0x30...0x39).contains($0) }
            try require(isNumber, "a Content-Length that is no number was let through")
        }
        try require(lengths <= 1, "\(lengths) lines of Content-Length are left")
        try require((try? HeadRule.judge(judged)) == judged, "what was judged is judged otherwise")
    }

    /// Returns the value without the surrounding white space.
    private static func value(of name: String, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0D].contains(byte) }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let field = parts[0].drop(while: isSpace)
        let end = field.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? field.startIndex
        guard field[..<end].map({ $0 | 0x20 }) == Array(name.utf8) else { return nil }
        let value = parts[1].drop(while: isSpace)
        return value[..<(value.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? value.startIndex)]
    }
}
