import TransferCore

/// The reader of values that may be secrets, and of lists of such values.
package enum SecretDecoder {
    package static let advice = "write {\"env\": \"NAME\"}, {\"file\": \"PATH\"} or {\"credential\": \"NAME\"}"

    /// Reads a value that may be a secret: a string, or an object that names the secret's place.
    ///
    /// - Parameter literal: A closure that explains why a literal value is invalid or must not be written out.
    package static func read(
        _ decoder: inout JobDecoder, isSecret: Bool, _ literal: (String) -> String?
    ) throws(JSONFault) -> SecretText? {
        let kind = try decoder.reader.kind()
        switch kind {
        case .string:
            let text = try decoder.reader.string()
            let value = decoder.reader.string(text)
            guard !decoder.isTrusted, let message = literal(value) else { return .literal(value) }
            decoder.note(message, text.token, isSecret: isSecret)
            return nil
        case .object: return try reference(&decoder, isSecret: isSecret)
        default:
            try decoder.mismatch("a string or an object that names a secret", kind, isSecret: isSecret)
            return nil
        }
    }

    private static func reference(_ decoder: inout JobDecoder, isSecret: Bool) throws(JSONFault) -> SecretText? {
        let start = decoder.reader.offset
        var result: SecretText?
        let before = decoder.problems.count
        let seen = try decoder.object(SecretKey.table, isSecret: isSecret) { (decoder, key) throws(JSONFault) in
            guard try decoder.expect(.string, isSecret: isSecret) else { return }
            let text = try decoder.reader.string()
            let name = decoder.reader.string(text)
            if !decoder.isTrusted, let message = refusal(ofName: name) ?? decoder.refusal(ofPath: name, key) {
                decoder.note(message, text.token)
            }
            switch key {
            case .env: result = .environment(name)
            case .file: result = .file(name)
            case .credential: result = .credential(name)
            }
        }
        guard let seen, decoder.problems.count == before else { return nil }
        guard seen.nonzeroBitCount == 1 else {
            decoder.note("a secret has one source; \(advice)", start..<start + 1, isSecret: true)
            return nil
        }
        return result
    }

    private static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "the name is empty" }
        return name.utf8.contains(0) ? "a name cannot hold a NUL character" : nil
    }

    /// The maximum number of header fields in one object; servers accept about a hundred.
    package static let mostHeaders = 1000

    /// Reads an object of header fields and merges them into the existing ones, regardless of the case of names. A
    /// `null` removes a field. The time grows with the number of fields.
    package static func headers(
        _ decoder: inout JobDecoder, into headers: inout [JobSettings.HeaderSetting]
    ) throws(JSONFault) {
        guard try decoder.expect(.object) else { return }
        let start = decoder.reader.offset
        try decoder.reader.beginObject()
        var isFirst = true
        var places: [String: Int] = [:]
        if !decoder.isTrusted {
            for (index, header) in headers.enumerated() { places[header.name.lowercased()] = index }
        }
        let takesSecrets = decoder.takesSecrets
        var seen: Set<String> = []
        var unset: Set<String> = []
        while let key = try decoder.reader.key(isFirst: &isFirst) {
            let name = decoder.reader.string(key)
            if decoder.isTrusted {
                guard let value = try read(&decoder, isSecret: true, { _ in nil }) else { continue }
                headers.append(.init(name: name, value: value))
                continue
            }
            if let message = HeaderRule.refusal(ofName: name) {
                decoder.note(message, key.token)
                try decoder.reader.skipValue()
                continue
            }
            let isSecret = Redaction.isSecretHeader(name)
            let literal = { (value: String) -> String? in
                isSecret && !takesSecrets
                    ? "a secret is named, never written; \(advice)" : HeaderRule.refusal(ofValue: value)
            }
            let lower = name.lowercased()
            guard seen.insert(lower).inserted else {
                decoder.note("header \(Wording.quoted(name)) occurs twice in this object", key.token)
                try decoder.reader.skipValue()
                continue
            }
            if try decoder.unsets() {
                unset.insert(lower)
                continue
            }
            guard let value = try read(&decoder, isSecret: isSecret, literal) else { continue }
            if let old = places[lower] {
                headers[old] = .init(name: name, value: value)
            } else if seen.count <= mostHeaders {
                places[lower] = headers.count
                headers.append(.init(name: name, value: value))
            }
        }
        if seen.count > mostHeaders {
            decoder.note("more than \(CountText.words(mostHeaders, "header field"))", start..<start + 1)
        }
        guard !unset.isEmpty else { return }
        headers.removeAll { unset.contains($0.name.lowercased()) }
    }

    /// Reads names and values, in their order. A later value replaces an earlier one of the same name, and `null`
    /// removes it.
    package static func namedValues(
        _ decoder: inout JobDecoder, into fields: inout [JobSpec.Upload.Field]
    ) throws(JSONFault) {
        guard try decoder.expect(.object) else { return }
        try decoder.reader.beginObject()
        var isFirst = true
        // The value of a removed name is `nil`.
        var entries: [(name: String, value: SecretText?)] = []
        while let key = try decoder.reader.key(isFirst: &isFirst) {
            let name = decoder.reader.string(key)
            if !decoder.isTrusted, name.isEmpty { decoder.note("the name is empty", key.token) }
            let isSecret = Redaction.isSecretHeader(name)
            let takesSecrets = decoder.takesSecrets
            let literal = { (_: String) -> String? in
                isSecret && !takesSecrets ? "a secret is named, never written; \(advice)" : nil
            }
            if try decoder.unsets() {
                entries.append((name, nil))
                continue
            }
            guard let value = try read(&decoder, isSecret: isSecret, literal) else { continue }
            entries.append((name, value))
        }
        var last: [String: Int] = [:]
        for (index, entry) in entries.enumerated() { last[entry.name] = index }
        fields.removeAll { last[$0.name] != nil }
        for (index, entry) in entries.enumerated() where last[entry.name] == index {
            if let value = entry.value { fields.append(JobSpec.Upload.Field(name: entry.name, value: value)) }
        }
    }
}
