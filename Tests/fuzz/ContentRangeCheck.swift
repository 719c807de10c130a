import TransferCore

/// The check that a range lies within its total, and has a form that RFC 9110 §14.4 permits.
enum ContentRangeCheck {
    static func check(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let read = ContentRange(text) else { return }
        if let range = read.range {
            try require(range.lowerBound >= 0 && !range.isEmpty, "an empty range, or one below 0")
            if let total = read.total { try require(range.upperBound <= total, "a range beyond its total") }
        }
        if let total = read.total { try require(total >= 0, "a total below 0") }
        let place = read.range.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        let again = "bytes \(place)/\(read.total.map { "\($0)" } ?? "*")"
        try require(ContentRange(again) == read, "\(again) is read as another one")
        let value = text.utf8.drop { $0 == 0x20 }.dropFirst(5)
        let isPlain = value.allSatisfy { (0x30...0x39).contains($0) || " -/*".utf8.contains($0) }
        try require(isPlain, "\(text.debugDescription) has more than digits")
    }
}
