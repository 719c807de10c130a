import TransferCore
import TransferWatch

/// Folders whose files are uploaded as they are finished.
extension JobDecoder {
    private struct Draft {
        /// The job that each file becomes, as far as the entry says.
        var job: JobDraft
        /// The bits of the keys that it has of a job.
        var jobKeys: UInt64 = 0
        var spec = WatchSpec(folder: "", url: "")
        var places: WatchPlaces
        var hasFolder = false

        init(start: Int, rules: JobDefaults) {
            job = JobDraft(start: start, rules: rules)
            places = WatchPlaces(entry: start..<start + 1)
        }
    }

    /// Reads an entry of `"watch"`.
    ///
    /// - Parameter directory: What relative paths start from.
    /// - Returns: The entry, or `nil` when problems were noted; and where its parts are, as far as they are there.
    mutating func watch(directory: String?) throws(JSONFault) -> (spec: WatchSpec?, places: WatchPlaces) {
        reader.skipSpace()
        var draft = Draft(start: reader.offset, rules: defaults)
        let seen = try object(fields.watch, place: "watch") { (decoder, key) throws(JSONFault) in
            switch key {
            case .own(let own): try decoder.member(own, of: &draft)
            case .job(let field):
                draft.jobKeys |= decoder.fields.table.bit(of: field.key)
                try field.read(&decoder, &draft.job)
            }
        }
        guard seen != nil else { return (nil, draft.places) }
        return (finish(&draft, directory), draft.places)
    }

    private mutating func member(_ key: WatchKey.Own, of draft: inout Draft) throws(JSONFault) {
        switch key {
        case .folder:
            draft.hasFolder = true
            guard let text = try text() else { return }
            draft.places.folder = text.token
            let path = reader.string(text)
            if let message = DestinationPath.refusal(ofPath: path) { return note(message, text.token) }
            draft.spec.folder = path
        case .include: draft.spec.rules.include = try patterns()
        case .exclude: draft.spec.rules.exclude = try patterns()
        case .recursive: draft.spec.rules.isRecursive = try boolean() ?? false
        case .settle: draft.spec.settle = try duration() ?? draft.spec.settle
        case .then: try then(&draft)
        case .keepFor:
            _ = try reader.kind()
            let start = reader.offset
            draft.spec.keepFor = try duration()
            draft.places.keepFor = start..<reader.offset
        case .newOnly: draft.spec.isNewOnly = try boolean() ?? false
        case .order: draft.spec.order = try word(WatchOrder.self) ?? .oldest
        case .checksum: draft.spec.verifiesDigest = try boolean() ?? false
        }
    }

    /// One pattern, or several.
    private mutating func patterns() throws(JSONFault) -> [GlobPattern] {
        var patterns: [GlobPattern] = []
        switch try reader.kind() {
        case .string: if let pattern = try pattern() { patterns.append(pattern) }
        case .array:
            _ = try array { (decoder) throws(JSONFault) in
                guard try decoder.expect(.string), let pattern = try decoder.pattern() else { return }
                patterns.append(pattern)
            }
        case let kind: try mismatch("a pattern or an array of patterns", kind)
        }
        return patterns
    }

    private mutating func pattern() throws(JSONFault) -> GlobPattern? {
        let text = try reader.string()
        do throws(TransferError) {
            return try GlobPattern(reader.string(text))
        } catch {
            note(error.message, text.token)
            return nil
        }
    }

    /// `"keep"`, `"delete"` or `{"move": "DIR"}`.
    private mutating func then(_ draft: inout Draft) throws(JSONFault) {
        let expected = "\"keep\", \"delete\" or {\"move\": \"FOLDER\"}"
        let kind = try reader.kind()
        let start = reader.offset
        switch kind {
        case .string:
            let text = try reader.string()
            draft.places.then = text.token
            switch reader.string(text) {
            case "keep": draft.spec.then = .keep
            case "delete": draft.spec.then = .delete
            case let word: note("unknown value \(Wording.quoted(word)); \(expected) are possible", text.token)
            }
        case .object:
            var destination: String?
            let before = problems.count
            _ = try object(ThenKey.table) { (decoder, _) throws(JSONFault) in
                _ = try decoder.reader.kind()
                let start = decoder.reader.offset
                destination = try decoder.path()
                draft.places.then = start..<decoder.reader.offset
            }
            if let destination {
                draft.spec.then = .move(to: destination)
            } else if problems.count == before {
                note("\"move\" is missing; write {\"move\": \"FOLDER\"}", start..<start + 1)
            }
        default: try mismatch(expected, kind)
        }
    }

    private mutating func finish(_ draft: inout Draft, _ directory: String?) -> WatchSpec? {
        if !draft.hasFolder { note("\"folder\" is missing", draft.places.entry) }
        if draft.jobKeys & fields.bits.to == 0 { note("\"to\" is missing", draft.places.entry) }
        draft.places.to = draft.job.to?.token
        let upload = watchedUpload(&draft.job, draft.jobKeys)
        guard let upload else { return nil }
        draft.spec.upload = upload
        draft.spec.url = upload.url
        draft.spec.priority = draft.job.rules.priority
        draft.spec.settings = draft.job.rules.settings
        for fault in draft.spec.complete(directory: directory) {
            note(fault.message, draft.places.range(of: fault.part))
        }
        return hasProblems ? nil : draft.spec
    }
}
