import TransferCore
import TransferWatch

/// An entry of `"watch"` while its keys, which come in any order, are read.
package struct WatchDraft {
    /// The part of the entry that describes the job of each file.
    private var job: JobDraft
    /// The bits of the entry's keys that a job has too.
    private var jobKeys: UInt64 = 0
    private var spec = WatchSpec(folder: "", url: "")
    private var places: WatchPlaces
    private var hasFolder = false

    private init(start: Int, rules: JobDefaults) {
        job = JobDraft(start: start, rules: rules)
        places = WatchPlaces(entry: start..<start + 1)
    }

    /// Reads an entry of `"watch"`.
    ///
    /// - Parameter directory: The folder to which relative paths refer.
    /// - Returns: The entry, or `nil` where problems were noted, and the places of those of its parts that exist.
    package static func read(
        _ decoder: inout JobDecoder, directory: String?
    ) throws(JSONFault) -> (spec: WatchSpec?, places: WatchPlaces) {
        decoder.reader.skipSpace()
        let start = decoder.reader
        let base = decoder.base(for: try JobURLs.read(start, .watch))
        if let fault = base.fault { decoder.note(fault, start.offset..<start.offset + 1) }
        var again = decoder
        var made = try read(&decoder, directory: directory, on: base.defaults)
        if base.isConfigured, made.spec != nil {
            again.reader = start
            let plain = try read(&again, directory: directory, on: decoder.defaults).spec
            made.spec?.plain = plain.map { Shared(wrappedValue: WatchSpec.Plain($0)) }
        }
        return made
    }

    private static func read(
        _ decoder: inout JobDecoder, directory: String?, on defaults: JobDefaults
    ) throws(JSONFault) -> (spec: WatchSpec?, places: WatchPlaces) {
        var draft = WatchDraft(start: decoder.reader.offset, rules: defaults)
        let seen = try decoder.object(decoder.fields.watch, place: "watch") { (decoder, key) throws(JSONFault) in
            switch key {
            case .own(let own): try draft.read(own, &decoder)
            case .job(let field):
                draft.jobKeys |= decoder.fields.table.bit(of: field.key)
                try field.read(&decoder, &draft.job)
            }
        }
        guard seen != nil else { return (nil, draft.places) }
        return (draft.finish(&decoder, directory), draft.places)
    }

    private mutating func read(_ key: WatchKey.Own, _ decoder: inout JobDecoder) throws(JSONFault) {
        switch key {
        case .folder:
            hasFolder = true
            guard let text = try decoder.text() else { return }
            places.folder = text.token
            let path = decoder.reader.string(text)
            if let message = DestinationPath.refusal(ofPath: path) { return decoder.note(message, text.token) }
            spec.folder = path
        case .include: spec.rules.include = try Self.patterns(&decoder)
        case .exclude: spec.rules.exclude = try Self.patterns(&decoder)
        case .recursive: spec.rules.isRecursive = try decoder.boolean() ?? false
        case .settle: spec.settle = try decoder.duration() ?? spec.settle
        case .then: try then(&decoder)
        case .keepFor:
            _ = try decoder.reader.kind()
            let start = decoder.reader.offset
            spec.keepFor = try decoder.duration()
            places.keepFor = start..<decoder.reader.offset
        case .newOnly: spec.isNewOnly = try decoder.boolean() ?? false
        case .order: spec.order = try decoder.word(WatchOrder.self) ?? .oldest
        case .checksum: spec.verifiesDigest = try decoder.boolean() ?? false
        }
    }

    /// Reads one pattern, or several.
    private static func patterns(_ decoder: inout JobDecoder) throws(JSONFault) -> [GlobPattern] {
        var patterns: [GlobPattern] = []
        switch try decoder.reader.kind() {
        case .string: if let pattern = try pattern(&decoder) { patterns.append(pattern) }
        case .array:
            _ = try decoder.array { (decoder) throws(JSONFault) in
                guard try decoder.expect(.string), let pattern = try pattern(&decoder) else { return }
                patterns.append(pattern)
            }
        case let kind: try decoder.mismatch("a pattern or an array of patterns", kind)
        }
        return patterns
    }

    private static func pattern(_ decoder: inout JobDecoder) throws(JSONFault) -> GlobPattern? {
        let text = try decoder.reader.string()
        do throws(TransferError) {
            return try GlobPattern(decoder.reader.string(text))
        } catch {
            decoder.note(error.message, text.token)
            return nil
        }
    }

    /// Reads `"keep"`, `"delete"` or `{"move": "DIR"}`.
    private mutating func then(_ decoder: inout JobDecoder) throws(JSONFault) {
        let expected = "\"keep\", \"delete\" or {\"move\": \"FOLDER\"}"
        let kind = try decoder.reader.kind()
        let start = decoder.reader.offset
        switch kind {
        case .string:
            let text = try decoder.reader.string()
            places.then = text.token
            switch decoder.reader.string(text) {
            case "keep": spec.then = .keep
            case "delete": spec.then = .delete
            case let word: decoder.note("unknown value \(Wording.quoted(word)); \(expected) are possible", text.token)
            }
        case .object:
            var destination: String?
            let before = decoder.problems.count
            _ = try decoder.object(ThenKey.table) { (decoder, _) throws(JSONFault) in
                _ = try decoder.reader.kind()
                let start = decoder.reader.offset
                destination = try decoder.path()
                places.then = start..<decoder.reader.offset
            }
            if let destination {
                spec.then = .move(to: destination)
            } else if decoder.problems.count == before {
                decoder.note("\"move\" is missing; write {\"move\": \"FOLDER\"}", start..<start + 1)
            }
        default: try decoder.mismatch(expected, kind)
        }
    }

    private mutating func finish(_ decoder: inout JobDecoder, _ directory: String?) -> WatchSpec? {
        if !hasFolder { decoder.note("\"folder\" is missing", places.entry) }
        if jobKeys & decoder.fields.bits.to == 0 { decoder.note("\"to\" is missing", places.entry) }
        places.to = job.to?.token
        guard let upload = job.watchedUpload(&decoder, jobKeys) else { return nil }
        spec.upload = upload
        spec.url = upload.url
        spec.priority = job.rules.priority
        spec.settings = job.rules.settings
        for fault in spec.complete(directory: directory) {
            decoder.note(fault.message, places.range(of: fault.part))
        }
        return decoder.hasProblems ? nil : spec
    }
}
