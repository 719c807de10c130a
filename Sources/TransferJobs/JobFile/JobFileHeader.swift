import TransferCore

/// The part of a file that concerns the batch as a whole.
package struct JobFileHeader {
    private static let version = 1

    package var batch = BatchSpec()
    /// The offset of the array of jobs.
    package var jobs: Int?
    /// The offset of the array of watched folders.
    package var watch: Int?
    private var hasVersion = false
    private var hook: FinishHook?

    /// Reads the top-level object of a document and skips its jobs. They need the defaults, which may follow them.
    package static func document(_ decoder: inout JobDecoder) throws(JSONFault) -> JobFileHeader {
        decoder.reader.skipSpace()
        let start = decoder.reader.offset
        var header = JobFileHeader()
        guard
            try decoder.object(FileKey.table, { (decoder, key) throws(JSONFault) in try header.read(key, &decoder) })
                != nil
        else { return header }
        header.placeHook(decoder.defaults.settings)
        if !header.hasVersion { decoder.note("\"version\" is missing; write \"version\": 1", start..<start + 1) }
        if header.jobs == nil, header.watch == nil, !decoder.has(key: "jobs", inObjectAt: start),
            !decoder.has(key: "watch", inObjectAt: start)
        {
            decoder.note("\"jobs\" or \"watch\" is missing", start..<start + 1)
        }
        return header
    }

    /// Reads the first line of a `.jsonl` file.
    package static func line(_ decoder: inout JobDecoder) throws(JSONFault) -> JobFileHeader {
        var header = JobFileHeader()
        _ = try decoder.object(FileKey.headerTable) { (decoder, key) throws(JSONFault) in
            try header.read(key, &decoder)
        }
        header.placeHook(decoder.defaults.settings)
        return header
    }

    /// Gives the batch's webhook the settings of `defaults`, which may follow it in the file.
    private mutating func placeHook(_ defaults: JobSettings) {
        batch.onFinish = hook.map { BatchHook($0, settings: defaults) }
    }

    private mutating func read(_ key: FileKey, _ decoder: inout JobDecoder) throws(JSONFault) {
        switch key {
        case .schema: _ = try decoder.text()
        case .version:
            hasVersion = true
            guard try decoder.expect(.number) else { return }
            let number = try decoder.reader.number()
            if decoder.reader.integer(number) != Self.version {
                let found = String(decoding: decoder.reader.bytes[number.range], as: UTF8.self)
                decoder.note("version \(found) is unknown; this program reads version \(Self.version)", number.range)
            }
        case .name: batch.name = try decoder.string(DestinationPath.refusal(ofBatchName:))
        case .collisions: batch.collisions = try decoder.word(Collisions.self)
        case .defaults: try defaults(&decoder)
        case .onFinish: hook = try FinishFields.read(&decoder)
        case .limits: try LimitsDecoder.read(&decoder, into: &batch.limits)
        case .jobs: jobs = try passArray(&decoder)
        case .watch: watch = try passArray(&decoder)
        }
    }

    /// Skips an array that is read again once the defaults are known; its keys are checked at that time.
    ///
    /// - Returns: The array's offset; `nil` for another kind of value, which is noted.
    private func passArray(_ decoder: inout JobDecoder) throws(JSONFault) -> Int? {
        guard try decoder.expect(.array) else { return nil }
        let start = decoder.reader.offset
        try decoder.reader.skipValue(checkingKeys: false)
        return start
    }

    /// Reads the defaults of the batch's jobs into the decoder.
    private func defaults(_ decoder: inout JobDecoder) throws(JSONFault) {
        _ = try decoder.reader.kind()
        var draft = JobDraft(start: decoder.reader.offset, rules: JobDefaults())
        _ = try decoder.object(decoder.fields.defaults, place: "defaults") { (decoder, field) throws(JSONFault) in
            try field.read(&decoder, &draft)
        }
        if draft.rules.settings.tls.insecure {
            decoder.note(
                "\"insecure\" is for single jobs, never for all jobs of a file",
                draft.start..<draft.start + 1)
        }
        draft.checkConnections(&decoder)
        decoder.setDefaults(draft.rules, at: draft.start..<decoder.reader.offset)
    }
}
