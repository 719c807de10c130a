import TransferCore

extension JobDecoder {
    static let secretAdvice = "write {\"env\": \"NAME\"}, {\"file\": \"PATH\"} or {\"credential\": \"NAME\"}"

    /// A value that may be a secret: a string, or where to find it.
    ///
    /// - Parameter literal: Says why a value can't be written out, if so, or what is wrong with it.
    mutating func secret(
        isSecret: Bool, _ literal: (String) -> String?
    ) throws(JSONFault) -> SecretText? {
        let kind = try reader.kind()
        switch kind {
        case .string:
            let text = try reader.string()
            let value = reader.string(text)
            guard !isTrusted, let message = literal(value) else { return .literal(value) }
            note(message, text.token, isSecret: isSecret)
            return nil
        case .object: return try secretReference(isSecret: isSecret)
        default:
            try mismatch("a string or an object that names a secret", kind, isSecret: isSecret)
            return nil
        }
    }

    private mutating func secretReference(isSecret: Bool) throws(JSONFault) -> SecretText? {
        let start = reader.offset
        var result: SecretText?
        let before = problems.count
        let seen = try object(SecretKey.table, isSecret: isSecret) { (decoder, key) throws(JSONFault) in
            guard try decoder.expect(.string, isSecret: isSecret) else { return }
            let text = try decoder.reader.string()
            let name = decoder.reader.string(text)
            if !decoder.isTrusted, let message = Self.refusal(ofName: name) { decoder.note(message, text.token) }
            switch key {
            case .env: result = .environment(name)
            case .file: result = .file(name)
            case .credential: result = .credential(name)
            }
        }
        guard let seen, problems.count == before else { return nil }
        guard seen.nonzeroBitCount == 1 else {
            note("a secret has one source; \(Self.secretAdvice)", start..<start + 1, isSecret: true)
            return nil
        }
        return result
    }

    private static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "the name is empty" }
        return name.utf8.contains(0) ? "a name can't hold a NUL character" : nil
    }

    /// Reads an object of header fields into those that are there, whatever the case of their names.
    mutating func headers(into headers: inout [JobSettings.HeaderSetting]) throws(JSONFault) {
        guard try expect(.object) else { return }
        try reader.beginObject()
        var isFirst = true
        let inherited = headers.count
        var replaced: [Int] = []
        while let key = try reader.key(isFirst: &isFirst) {
            let name = reader.string(key)
            if isTrusted {
                guard let value = try secret(isSecret: true, { _ in nil }) else { continue }
                headers.append(.init(name: name, value: value))
                continue
            }
            if let message = HeaderRule.refusal(ofName: name) {
                note(message, key.token)
                try reader.skipValue()
                continue
            }
            let isSecret = Redaction.isSecretHeader(name)
            let literal = { (value: String) -> String? in
                isSecret
                    ? "a secret is named, never written; \(Self.secretAdvice)" : HeaderRule.refusal(ofValue: value)
            }
            let old = headers.firstIndex { $0.name.asciiCaseInsensitiveEquals(name) }
            if let old, old >= inherited || replaced.contains(old) {
                note("header \(Wording.quoted(name)) occurs twice in this object", key.token)
                try reader.skipValue()
                continue
            }
            guard let value = try secret(isSecret: isSecret, literal) else { continue }
            if let old {
                headers[old] = .init(name: name, value: value)
                replaced.append(old)
            } else {
                headers.append(.init(name: name, value: value))
            }
        }
    }

    mutating func auth() throws(JSONFault) -> JobSettings.Auth?? {
        let start = reader.offset
        var draft = JobFields.AuthDraft()
        let before = problems.count
        let seen = try JobFields.credentials.read(&self, into: &draft)
        guard seen != nil, problems.count == before else { return nil }
        switch (draft.netrc, draft.user, draft.password, draft.bearer) {
        case (true?, let user, nil, nil): return .some(.netrc(user: user))
        case (false?, nil, nil, nil): return .some(nil)
        case (nil, nil, nil, let token?): return .some(.bearer(token))
        case (nil, let user?, let password?, nil): return .some(.basic(user: user, password: password))
        default:
            note(
                "\"auth\" holds either \"netrc\" (and perhaps a \"user\"), \"bearer\", or both \"user\" and \"password\"",
                brace(start))
            return nil
        }
    }

    /// The brace behind the white space that follows a key's colon.
    func brace(_ start: Int) -> Range<Int> {
        var brace = JSONReader(reader.bytes, offset: start)
        brace.skipSpace()
        return brace.offset..<brace.offset + 1
    }
}
