import TransferCore

/// The place in a job file where its objects are decoded, and what was wrong with them so far.
///
/// It reads objects and plain values. The values that have rules of their own are read by types of their own, such as
/// ``SecretDecoder``, and the keys of a job are gathered in a ``JobDraft``.
///
/// A value that is wrong is noted in `problems` and read over, so that one reading finds every fault; only text that
/// is no JSON stops it, by a `JSONFault`.
package struct JobDecoder {
    /// Problems kept of one job or header; the rest is only counted.
    package static let maxProblems = 20

    package var reader: JSONReader
    /// What jobs begin with.
    private var bases: JobBases
    package let sums: ChecksumSource
    /// The keys of a job.
    package let fields: JobFields
    /// Reads what `canonicalJSON` wrote: values are taken as they are, whatever a job file would be allowed to say.
    package let isTrusted: Bool
    /// The number of the job at hand, and the day: for destinations with places in them.
    package var turn = DestinationTemplate.Turn(date: "")
    /// The kind of text that is read.
    package let form: Form
    private var ignoresConfiguration = false
    package private(set) var problems: [Problem] = []
    package private(set) var uncountedProblems = 0

    package enum Form: Sendable {
        case jobFile
        /// `null` takes a value away there, and paths are whole, as it holds in every folder.
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

    /// The file's `defaults`, with the options over them and no configuration under them.
    package var defaults: JobDefaults { bases.plain }

    /// Has jobs begin with these from now on.
    ///
    /// - Parameter range: Where they are written.
    package mutating func setDefaults(_ new: JobDefaults, at range: Range<Int>? = nil) {
        bases.set(new, text: range.map { Array(reader.bytes[$0]) })
    }

    /// What the configuration says of a URL, for the destination of a copy.
    package mutating func configuration(for url: String) -> JobSettings {
        ignoresConfiguration ? JobSettings() : bases.configuration(for: url)
    }

    /// What a job of these URLs begins with.
    package mutating func base(for urls: [String]) -> JobBases.Base { bases.base(for: urls) }

    package var hasProblems: Bool { !problems.isEmpty }

    package mutating func note(_ message: String, _ range: Range<Int>, isSecret: Bool = false) {
        guard problems.count < Self.maxProblems else {
            uncountedProblems += 1
            return
        }
        problems.append(Problem(message: message, range: range, isSecret: isSecret))
    }

    /// - Returns: What was noted since the last call.
    package mutating func takeProblems() -> (kept: [Problem], uncounted: Int) {
        defer {
            problems = []
            uncountedProblems = 0
        }
        return (problems, uncountedProblems)
    }

    /// Reads a job.
    ///
    /// - Returns: The job, or `nil` when problems were noted; and where its parts are, as far as they are there.
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

    /// The fingerprint of a job without the configuration.
    ///
    /// - Returns: `nil` where the job is none without it.
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

    /// Makes the defaults independent of the text that they were read from: their offsets mean nothing in the text of a job.
    ///
    /// - Parameter cursor: Stands before them.
    package mutating func placeDefaults(_ cursor: SourceCursor) {
        bases.place(NetworkPlaces(bases.plain.networkRanges, cursor: cursor, in: reader.bytes))
    }

    /// Reads an object whose keys are known.
    ///
    /// - Parameters:
    ///   - place: What a message calls the object when a key belongs elsewhere.
    ///   - member: Reads the value of one key.
    /// - Returns: Which keys were there, a bit each in the table's order; `nil` when the value is no object.
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

    /// Goes over a `null`, which takes away what weaker files of a configuration say.
    private mutating func takesNull() throws(JSONFault) -> Bool {
        guard form == .configuration else { return false }
        return try unsets()
    }

    /// Goes over a `null`, which takes away what is said of a key by those who are weaker: defaults and the configuration.
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

    /// Where a key belongs that stands one level off.
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

    /// Whether the next value is of that kind; else it's noted and read over.
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
        // A caret under a whole object says no more than one under its brace.
        let isContainer = actual == .object || actual == .array
        note(
            "expected \(expected), found \(actual.description)", start..<(isContainer ? start + 1 : reader.offset),
            isSecret: isSecret)
    }
}
