import TransferCore

/// The decoder of a job file's objects, with the faults found so far.
///
/// The decoder reads objects and plain values itself. Values with rules of their own have their own decoders, such as
/// ``SecretDecoder``. The keys of a job are collected in a ``JobDraft``.
///
/// An invalid value is noted in `problems` and skipped, so that one pass finds every fault. Only text that is not JSON
/// ends the pass, with a `JSONFault`.
package struct JobDecoder {
    /// The number of problems kept for one job or header; further problems are only counted.
    package static let maxProblems = 20

    package var reader: JSONReader
    /// The values from which jobs start.
    private var bases: JobBases
    package let sums: ChecksumSource
    /// The keys of a job.
    package let fields: JobFields
    /// Whether the text comes from `canonicalJSON`: its values are then accepted without the checks of a job file.
    package let isTrusted: Bool
    /// Whether jobs may contain secrets written out, because the queue seals them.
    package var takesSecrets = false
    /// The current job's number and the date, for destinations with placeholders.
    package var turn = DestinationTemplate.Turn(date: "")
    /// The kind of text that is decoded.
    package let form: Form
    private var ignoresConfiguration = false
    package private(set) var problems: [Problem] = []
    package private(set) var uncountedProblems = 0

    package enum Form: Sendable {
        case jobFile
        /// A configuration file: there, `null` removes a value, and paths are absolute, since the file applies in every
        /// folder.
        case configuration
    }

    package init(
        _ reader: JSONReader, rules: RequestRules = RequestRules(), sums: ChecksumSource, isTrusted: Bool = false,
        fields: JobFields = .all, form: Form = .jobFile
    ) {
        self.reader = reader
        self.fields = fields
        self.sums = sums
        self.isTrusted = isTrusted
        self.form = form
        bases = JobBases(rules: rules, sums: sums, fields: fields)
    }

    /// The file's `defaults`, with the options over them and without the configuration.
    package var defaults: JobDefaults { bases.plain }

    /// Sets the values from which all later jobs start.
    ///
    /// - Parameter range: The place of these defaults in the text.
    package mutating func setDefaults(_ new: JobDefaults, at range: Range<Int>? = nil) {
        bases.set(new, text: range.map { Array(reader.bytes[$0]) })
    }

    /// Returns the configuration's settings for a URL, for the destination of a copy.
    package mutating func configuration(for url: String) -> JobSettings {
        ignoresConfiguration ? JobSettings() : bases.configuration(for: url)
    }

    /// Returns the values from which a job with these URLs starts.
    package mutating func base(for urls: [String]) -> JobBases.Base { bases.base(for: urls) }

    package var hasProblems: Bool { !problems.isEmpty }

    package mutating func note(_ message: String, _ range: Range<Int>, isSecret: Bool = false) {
        guard problems.count < Self.maxProblems else {
            uncountedProblems += 1
            return
        }
        problems.append(Problem(message: message, range: range, isSecret: isSecret))
    }

    /// Takes the problems noted since the last call.
    ///
    /// - Returns: The problems kept, and the number of further ones.
    package mutating func takeProblems() -> (kept: [Problem], uncounted: Int) {
        defer {
            problems = []
            uncountedProblems = 0
        }
        return (problems, uncountedProblems)
    }

    /// Reads a job.
    ///
    /// - Returns: The job, or `nil` where problems were noted, and the places of those of its parts that exist.
    package mutating func job() throws(JSONFault) -> (spec: JobSpec?, places: JobPlaces) {
        reader.skipSpace()
        guard bases.isConfigured else { return try job(on: bases.plain) }
        let start = reader
        let base = bases.base(for: bases.hasOrigins ? try JobURLs.read(start, .job) : [])
        if let fault = base.fault { note(fault, start.offset..<start.offset + 1) }
        var made = try job(on: base.defaults)
        if base.isConfigured || made.spec?.copySource != nil, made.spec != nil {
            made.spec?.lasting = try plainFingerprint(at: start)
        }
        return made
    }

    /// Returns the fingerprint of the job without the configuration.
    ///
    /// - Returns: `nil` where the job is invalid without the configuration.
    private func plainFingerprint(at start: JSONReader) throws(JSONFault) -> Int64? {
        var again = self
        again.reader = start
        again.ignoresConfiguration = true
        return try again.job(on: bases.plain).spec?.spelt.fingerprint
    }

    private mutating func job(
        on defaults: JobDefaults
    ) throws(JSONFault) -> (spec: JobSpec?, places: JobPlaces) {
        var draft = JobDraft(start: reader.offset, rules: defaults)
        let seen = try object(isTrusted ? fields.storedTable : fields.table) { (decoder, field) throws(JSONFault) in
            try field.read(&decoder, &draft)
        }
        guard let seen else { return (nil, draft.places) }
        return (draft.finish(&self, seen), draft.places)
    }

    /// Makes the recorded places of the defaults independent of their text, since their offsets mean nothing in the
    /// text of a job.
    ///
    /// - Parameter cursor: A position before the defaults.
    package mutating func placeDefaults(_ cursor: SourceCursor) {
        bases.place(NetworkPlaces(bases.plain.networkRanges, cursor: cursor, in: reader.bytes))
    }

    /// Reads an object with a known set of keys.
    ///
    /// - Parameters:
    ///   - place: The object's name in the message about a misplaced key.
    ///   - member: A closure that reads the value of one key.
    /// - Returns: The keys that were present, one bit each in the table's order; `nil` where the value is no object.
    @inline(__always)
    package mutating func object<Key>(
        _ table: KeyTable<Key>, place: String = "", isSecret: Bool = false,
        _ member: (inout JobDecoder, Key) throws(JSONFault) -> Void
    ) throws(JSONFault) -> UInt64? {
        guard try expect(.object, isSecret: isSecret) else { return nil }
        try reader.beginObject()
        var isFirst = true
        var seen: UInt64 = 0
        var extensions: Set<String> = []
        while let key = try reader.key(isFirst: &isFirst) {
            guard let index = index(of: key, in: table) else {
                try unknown(key, table.names, place, &extensions, isSecret: isSecret)
                continue
            }
            guard seen & (1 << index) == 0 else {
                note(JSONReader.duplicate(reader.string(key), key).message, key.token, isSecret: isSecret)
                try reader.skipValue()
                continue
            }
            seen |= 1 << index
            if form == .configuration, try takesNull() { continue }
            try member(&self, table.keys[index])
        }
        return seen
    }

    /// Skips a `null`, which removes a value of weaker configuration files.
    ///
    /// - Returns: Whether there was one.
    private mutating func takesNull() throws(JSONFault) -> Bool {
        guard form == .configuration else { return false }
        return try unsets()
    }

    /// Skips a `null`, which removes the value that the defaults and the configuration give a key.
    ///
    /// - Returns: Whether there was one.
    package mutating func unsets() throws(JSONFault) -> Bool {
        guard !isTrusted, try reader.kind() == .null else { return false }
        try reader.null()
        return true
    }

    @inline(__always)
    private func index<Key>(of key: JSONText, in table: KeyTable<Key>) -> Int? {
        guard key.isEscaped else { return table.index(of: UnsafeBufferPointer(rebasing: reader.bytes[key.range])) }
        var name = reader.string(key)
        return name.withUTF8 { table.index(of: $0) }
    }

    private mutating func unknown(
        _ key: JSONText, _ known: [String], _ place: String, _ extensions: inout Set<String>, isSecret: Bool
    ) throws(JSONFault) {
        let name = reader.string(key)
        if name.hasPrefix("x-") {
            if !extensions.insert(name).inserted { note(JSONReader.duplicate(name, key).message, key.token) }
        } else if let home = home(of: name, insteadOf: place) {
            let other = place.isEmpty || place == "configuration" ? "" : ", not to \"\(place)\""
            note("\(Wording.quoted(name)) belongs to \(home)\(other)", key.token)
        } else {
            let nearest = NearestKey.suggestion(for: name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
            note("unknown key \(Wording.quoted(name))\(nearest)", key.token, isSecret: isSecret)
        }
        try reader.skipValue()
    }

    package static func unsupported(_ name: String) -> String { "\"\(name)\" is not supported by this version yet" }

    /// Returns the object in which a misplaced key belongs, in words.
    private func home(of name: String, insteadOf place: String) -> String? {
        if name == FileKey.watch.rawValue { return "the file, beside \"jobs\"" }
        let isOfJobs = fields.table.names.contains(name)
        switch place {
        case "configuration":
            if LimitKey(rawValue: name) != nil, !isOfJobs { return "\"limits\"" }
            if fields.defaults.names.contains(name) { return "\"defaults\"" }
            return isOfJobs || FileKey(rawValue: name) != nil ? "a job file" : nil
        case "origins":
            if isOfJobs { return "a job file" }
            if OriginLimitKey(rawValue: name) != nil { return "the section's own \"limits\"" }
            return LimitKey(rawValue: name) != nil ? "\"limits\" of the whole file" : nil
        case "origin's limits":
            return LimitKey(rawValue: name) != nil ? "\"limits\" of the whole file" : nil
        case "watch": return isOfJobs ? "a job" : nil
        case "defaults":
            if isOfJobs { return "a job" }
            return LimitKey(rawValue: name) != nil ? "\"limits\"" : nil
        case "limits": return isOfJobs ? "a job or to \"defaults\"" : nil
        default: return nil
        }
    }

    /// Returns whether the next value is of this kind. Another kind is noted and skipped.
    @inline(__always)
    package mutating func expect(_ kind: JSONKind, isSecret: Bool = false) throws(JSONFault) -> Bool {
        let actual = try reader.kind()
        if actual == kind { return true }
        try mismatch(kind.description, actual, isSecret: isSecret)
        return false
    }

    package mutating func mismatch(_ expected: String, _ actual: JSONKind, isSecret: Bool = false) throws(JSONFault) {
        let start = reader.offset
        try reader.skipValue()
        // A caret under the opening brace says as much as one under the whole object.
        let isContainer = actual == .object || actual == .array
        note(
            "expected \(expected), found \(actual.description)", start..<(isContainer ? start + 1 : reader.offset),
            isSecret: isSecret)
    }
}
