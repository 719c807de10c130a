import TransferCore

extension JobDecoder {
    /// Reads a string; returns `nil` for another kind of value, which is noted.
    @inline(__always)
    package mutating func text() throws(JSONFault) -> JSONText? {
        guard try expect(.string) else { return nil }
        return try reader.string()
    }

    @inline(__always)
    package mutating func string() throws(JSONFault) -> String? {
        guard let text = try text() else { return nil }
        return reader.string(text)
    }

    /// Reads a string to which `refusal` has no objection.
    package mutating func string(_ refusal: (String) -> String?) throws(JSONFault) -> String? {
        guard let text = try text() else { return nil }
        let value = reader.string(text)
        guard !isTrusted, let message = refusal(value) else { return value }
        note(message, text.token)
        return nil
    }

    /// Reads the path of a local file.
    package mutating func path() throws(JSONFault) -> String? {
        let isWhole = form == .configuration
        return try string { DestinationPath.refusal(ofPath: $0) ?? (isWhole ? Self.refusal(ofRelative: $0) : nil) }
    }

    /// Explains why a relative path is invalid: a configuration applies in every folder.
    private static func refusal(ofRelative path: String) -> String? {
        path.hasPrefix("/") ? nil : "a configuration holds in every folder: write the whole path, from / on"
    }

    /// Explains why the path of a secret's file is invalid.
    ///
    /// - Returns: The reason in words; `nil` for a valid path.
    package func refusal(ofPath name: String, _ key: SecretKey) -> String? {
        key == .file && form == .configuration ? Self.refusal(ofRelative: name) : nil
    }

    package mutating func boolean() throws(JSONFault) -> Bool? {
        guard try expect(.boolean) else { return nil }
        return try reader.boolean()
    }

    package mutating func integer(_ range: ClosedRange<Int>) throws(JSONFault) -> Int? {
        guard try expect(.number) else { return nil }
        let number = try reader.number()
        guard let value = reader.integer(number) else {
            note("expected a whole number", number.range)
            return nil
        }
        guard isTrusted || range.contains(value) else {
            note("\(value) is out of range; \(range.lowerBound) to \(range.upperBound) are possible", number.range)
            return nil
        }
        return value
    }

    /// Reads a duration: `"30s"`, `"1h30m"`, or a number of seconds.
    package mutating func duration(allowingZero: Bool = false) throws(JSONFault) -> Duration? {
        let kind = try reader.kind()
        let start = reader.offset
        let value: Duration?
        switch kind {
        case .number: value = reader.seconds(try reader.number())
        case .string: value = DurationText.parse(reader.string(try reader.string()))
        default:
            try mismatch("a duration such as \"30s\"", kind)
            return nil
        }
        let range = start..<reader.offset
        guard let value else {
            note("not a duration; write \"30s\", \"5m\", \"1h30m\" or a number of seconds", range)
            return nil
        }
        guard isTrusted || allowingZero || value > .zero else {
            note("a duration above zero is needed", range)
            return nil
        }
        return value
    }

    /// Reads a byte count: `"10M"`, or a number of bytes.
    package mutating func byteCount() throws(JSONFault) -> Int64? {
        let kind = try reader.kind()
        let start = reader.offset
        let value: Int64?
        switch kind {
        case .number: value = reader.integer(try reader.number()).map(Int64.init)
        case .string: value = ByteCount.parse(reader.string(try reader.string()))
        default:
            try mismatch("bytes a second, such as \"10M\"", kind)
            return nil
        }
        guard let value, isTrusted || value >= 0 else {
            note("not an amount of bytes; write \"512K\", \"10M\" or a number", start..<reader.offset)
            return nil
        }
        return value
    }

    /// Reads a rate limit, where 0 means none, as in curl and aria2; a job can thus lift the limit of its batch.
    package mutating func rateLimit() throws(JSONFault) -> Int64? {
        let value = try byteCount()
        return value == 0 && !isTrusted ? nil : value
    }

    /// Reads one of the raw values of an enumeration.
    package mutating func word<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) throws(JSONFault) -> Word? {
        guard let text = try text() else { return nil }
        let value = reader.string(text)
        if let word = Word(rawValue: value) { return word }
        let words = Word.allCases.map(\.rawValue)
        let nearest = NearestKey.suggestion(for: value, among: words)
        let advice = nearest.map { "did you mean \"\($0)\"?" } ?? "\(Wording.alternatives(words)) are possible"
        note("unknown value \(Wording.quoted(value)); \(advice)", text.token)
        return nil
    }

    /// Reads an array and lets `element` read each of its elements.
    package mutating func array(
        _ expected: String = "an array", _ element: (inout JobDecoder) throws(JSONFault) -> Void
    ) throws(JSONFault) -> Bool {
        let kind = try reader.kind()
        guard kind == .array else {
            try mismatch(expected, kind)
            return false
        }
        try reader.beginArray()
        var isFirst = true
        while try reader.element(isFirst: &isFirst) { try element(&self) }
        return true
    }

    /// Returns the range of a key of the object that begins at `start`. It serves faults that show only when the whole
    /// object is known.
    package func range(ofKey name: String, inObjectAt start: Int) -> Range<Int> {
        var again = JSONReader(reader.bytes, offset: start)
        var isFirst = true
        do {
            try again.beginObject()
            while let key = try again.key(isFirst: &isFirst) {
                if again.string(key) == name { return key.token }
                try again.skipValue(checkingKeys: false)
            }
        } catch {
            // The object has been read before; otherwise its beginning is an acceptable place to point at.
        }
        return start..<start + 1
    }

    /// Returns whether the object that begins at `start` has a key, whatever its value.
    package func has(key name: String, inObjectAt start: Int) -> Bool {
        range(ofKey: name, inObjectAt: start).count > 1
    }

    package func range(of key: JobKey, in draft: JobDraft) -> Range<Int> {
        range(ofKey: key.rawValue, inObjectAt: draft.start)
    }

    /// Returns the range of the brace after the white space that follows a key's colon.
    package func brace(_ start: Int) -> Range<Int> {
        var brace = JSONReader(reader.bytes, offset: start)
        brace.skipSpace()
        return brace.offset..<brace.offset + 1
    }
}
