import TransferCore

extension JobDecoder {
    static let priorities = -1_000_000...1_000_000
    static let segments = 1...16

    /// Reads a job.
    ///
    /// - Returns: The job, or `nil` when problems were noted; and where its parts are, as far as they are there.
    mutating func job() throws(JSONFault) -> (spec: JobSpec?, places: JobPlaces) {
        reader.skipSpace()
        var draft = JobDraft(start: reader.offset, rules: defaults)
        let seen = try object(fields.table) { (decoder, field) throws(JSONFault) in
            try field.read(&decoder, &draft)
        }
        guard let seen else { return (nil, draft.places) }
        return (finish(&draft, seen), draft.places)
    }

    mutating func id(_ draft: inout JobDraft) throws(JSONFault) {
        guard let text = try text() else { return }
        draft.id = text
        if !isTrusted, let message = DestinationPath.refusal(ofID: reader.string(text)) { note(message, text.token) }
    }

    mutating func mirrors(_ draft: inout JobDraft) throws(JSONFault) {
        let kind = try reader.kind()
        let start = reader.offset
        let before = problems.count
        switch kind {
        case .string: try mirror(&draft)
        case .array:
            _ = try array { (decoder) throws(JSONFault) in
                guard try decoder.expect(.string) else { return }
                try decoder.mirror(&draft)
            }
            if draft.rules.download.urls.isEmpty, problems.count == before, !isTrusted {
                note("at least one URL is needed", start..<start + 1)
            }
        default: try mismatch("a URL or an array of URLs", kind)
        }
        draft.urlsAreWrong = problems.count > before
    }

    private mutating func mirror(_ draft: inout JobDraft) throws(JSONFault) {
        let text = try reader.string()
        let url = reader.string(text)
        if !isTrusted, let refusal = URLRule.refusal(of: url) {
            note(refusal.message, text.token, isSecret: refusal.isSecret)
        } else {
            draft.rules.download.urls.append(url)
        }
    }

    mutating func checksum() throws(JSONFault) -> Checksum? {
        guard let text = try text() else { return nil }
        if let checksum = fastChecksum(text) { return checksum }
        let value = reader.string(text)
        if let checksum = Checksum(value) { return checksum }
        note(ChecksumRule.refusal(of: value), text.token)
        return nil
    }

    mutating func pieces() throws(JSONFault) -> PieceDigests? {
        _ = try reader.kind()
        let start = reader.offset
        let before = problems.count
        var draft = JobFields.PiecesDraft()
        let seen = try JobFields.pieceKeys.read(&self, into: &draft)
        guard seen != nil, problems.count == before else { return nil }
        let pieces = draft.length.flatMap { PieceDigests(length: $0, digests: draft.digests) }
        if pieces == nil, !isTrusted {
            note(
                "write \"pieces\": {\"length\": BYTES, \"digests\": [\"sha256:…\", …]}: at least one byte a piece, and"
                    + " the digests of all of them by one algorithm", start..<start + 1)
        }
        return pieces
    }

    /// The common spelling, without the general reader's search for others.
    @inline(__always)
    private func fastChecksum(_ text: JSONText) -> Checksum? {
        let prefix: StaticString = "sha256:"
        guard !text.isEscaped, text.range.count == 71,
            (0..<7).allSatisfy({ reader.bytes[text.range.lowerBound + $0] == prefix.utf8Start[$0] })
        else { return nil }
        let hex = UnsafeBufferPointer(rebasing: reader.bytes[text.range.lowerBound + 7..<text.range.upperBound])
        return Checksum(.sha256, hex: String(decoding: hex, as: UTF8.self))
    }

    mutating func checksums() throws(JSONFault) -> ChecksumList? {
        guard let text = try text() else { return nil }
        let path = reader.string(text)
        if let message = DestinationPath.refusal(ofPath: path) {
            note(message, text.token)
            return nil
        }
        do {
            return try sums.list(path)
        } catch {
            note(error.message, text.token)
            return nil
        }
    }

    mutating func needs(_ draft: inout JobDraft) throws(JSONFault) {
        _ = try array("an array of jobs' IDs") { (decoder) throws(JSONFault) in
            guard let text = try decoder.text() else { return }
            let name = decoder.reader.string(text)
            if decoder.isTrusted {
                draft.needs.append(name)
            } else if name.isEmpty {
                decoder.note("the ID is empty", text.token)
            } else {
                // A destination stands for the job whose ID it is, in whichever way it's spelt.
                let isPath = name.utf8.contains(UInt8(ascii: "/")) && URLRule.refusal(of: name) != nil
                let identity = isPath ? DestinationPath.normalized(name) : name
                guard draft.needed.insert(identity).inserted else {
                    decoder.note("\(Wording.quoted(name)) is named twice", text.token)
                    return
                }
                draft.needs.append(identity)
                draft.needPlaces.append(text.token)
            }
        }
    }
}
