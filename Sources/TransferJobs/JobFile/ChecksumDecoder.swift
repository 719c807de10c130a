package import TransferCore

/// The reader of the digests that verify a file.
package enum ChecksumDecoder {
    package static func read(_ decoder: inout JobDecoder) throws(JSONFault) -> Checksum? {
        guard let text = try decoder.text() else { return nil }
        if let checksum = common(text, decoder.reader) { return checksum }
        let value = decoder.reader.string(text)
        if let checksum = Checksum(value) { return checksum }
        decoder.note(ChecksumRule.refusal(of: value), text.token)
        return nil
    }

    /// Reads the most common spelling, `sha256:HEX`, without the general reader's search for other spellings.
    @inline(__always)
    private static func common(_ text: JSONText, _ reader: JSONReader) -> Checksum? {
        let prefix: StaticString = "sha256:"
        guard !text.isEscaped, text.range.count == 71,
            (0..<7).allSatisfy({ reader.bytes[text.range.lowerBound + $0] == prefix.utf8Start[$0] })
        else { return nil }
        let hex = UnsafeBufferPointer(rebasing: reader.bytes[text.range.lowerBound + 7..<text.range.upperBound])
        return Checksum(.sha256, hex: String(decoding: hex, as: UTF8.self))
    }

    package static func pieces(_ decoder: inout JobDecoder) throws(JSONFault) -> PieceDigests? {
        _ = try decoder.reader.kind()
        let start = decoder.reader.offset
        let before = decoder.problems.count
        var draft = PieceFields.Draft()
        let seen = try PieceFields.keys.read(&decoder, into: &draft)
        guard seen != nil, decoder.problems.count == before else { return nil }
        let pieces = draft.length.flatMap { PieceDigests(length: $0, digests: draft.digests) }
        if pieces == nil, !decoder.isTrusted {
            decoder.note(
                "write \"pieces\": {\"length\": BYTES, \"digests\": [\"sha256:…\", …]}: at least one byte a piece, and"
                    + " the digests of all of them by one algorithm", start..<start + 1)
        }
        return pieces
    }

    /// Reads the name of a list of checksums, and loads that list.
    package static func list(_ decoder: inout JobDecoder) throws(JSONFault) -> ChecksumList? {
        guard let text = try decoder.text() else { return nil }
        let path = decoder.reader.string(text)
        if let message = DestinationPath.refusal(ofPath: path) {
            decoder.note(message, text.token)
            return nil
        }
        do {
            return try decoder.sums.list(path)
        } catch {
            decoder.note(error.message, text.token)
            return nil
        }
    }
}
