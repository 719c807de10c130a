import TransferCore

/// The request that the bytes of a connection to a worker's probes contain so far.
enum ProbeRequest: Hashable {
    /// The head of a request.
    struct Head: Hashable {
        var method: String
        /// The path, without the query.
        var path: String
        var host: String?
    }

    case incomplete
    case complete(Head)
    case malformed
    case tooLong

    /// The most bytes of a head.
    static let longest = 8 << 10

    /// Reads the head of a request (RFC 9112, section 2.1); a body is not read.
    init(_ bytes: [UInt8]) {
        guard let end = Self.end(of: bytes) else {
            self = bytes.count >= Self.longest ? .tooLong : .incomplete
            return
        }
        guard end <= Self.longest else {
            self = .tooLong
            return
        }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else {
            self = .malformed
            return
        }
        var head = Head(method: String(words[0]), path: String(words[1].prefix { $0 != "?" }))
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "host" else { continue }
            head.host = String(parts[1]).trimmedOfBlanks
        }
        self = .complete(head)
    }

    /// Returns the place behind the empty line that ends a head.
    private static func end(of bytes: [UInt8]) -> Int? {
        var isLineEmpty = false
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"):
                if isLineEmpty { return place + 1 }
                isLineEmpty = true
            case UInt8(ascii: "\r"): break
            default: isLineEmpty = false
            }
        }
        return nil
    }
}

extension String {
    fileprivate var trimmedOfBlanks: String {
        let blanks: Set<Character> = [" ", "\t"]
        return String(drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed())
    }
}
