import TransferCore

extension JobDecoder {
    static let version = 1
    static let concurrencies = 1...10_000

    /// What a file says about the batch as a whole, besides its jobs.
    struct Header {
        var batch = BatchSpec()
        /// Where the array of jobs begins.
        var jobs: Int?
        /// Where the array of watched folders begins.
        var watch: Int?
        var hasVersion = false
    }

    /// Reads the object of a whole document, over its jobs: these need the defaults, which may come behind them.
    mutating func document() throws(JSONFault) -> Header {
        reader.skipSpace()
        let start = reader.offset
        var header = Header()
        guard
            try object(FileKey.table, { (decoder, key) throws(JSONFault) in try decoder.member(key, of: &header) })
                != nil
        else { return header }
        if !header.hasVersion { note("\"version\" is missing; write \"version\": 1", start..<start + 1) }
        if header.jobs == nil, header.watch == nil, !hasProblem(withKey: "jobs", at: start),
            !hasProblem(withKey: "watch", at: start)
        {
            note("\"jobs\" or \"watch\" is missing", start..<start + 1)
        }
        return header
    }

    /// Reads the first line of a `.jsonl` file.
    mutating func headerLine() throws(JSONFault) -> Header {
        var header = Header()
        _ = try object(FileKey.headerTable) { (decoder, key) throws(JSONFault) in try decoder.member(key, of: &header) }
        return header
    }

    private func hasProblem(withKey name: String, at start: Int) -> Bool {
        range(ofKey: name, inObjectAt: start).count > 1
    }

    private mutating func member(_ key: FileKey, of header: inout Header) throws(JSONFault) {
        switch key {
        case .schema: _ = try text()
        case .version:
            header.hasVersion = true
            guard try expect(.number) else { return }
            let number = try reader.number()
            if reader.integer(number) != Self.version {
                let found = String(decoding: reader.bytes[number.range], as: UTF8.self)
                note("version \(found) is unknown; this program reads version \(Self.version)", number.range)
            }
        case .name: header.batch.name = try string(DestinationPath.refusal(ofBatchName:))
        case .defaults: try readDefaults()
        case .limits: try limits(into: &header.batch.limits)
        case .jobs: header.jobs = try passArray()
        case .watch: header.watch = try passArray()
        }
    }

    /// Goes over an array that is read again with the defaults; its keys are checked then.
    ///
    /// - Returns: Where it begins; `nil` when it's none, which is noted.
    private mutating func passArray() throws(JSONFault) -> Int? {
        guard try expect(.array) else { return nil }
        let start = reader.offset
        try reader.skipValue(checkingKeys: false)
        return start
    }

    private mutating func readDefaults() throws(JSONFault) {
        var draft = JobDraft(start: reader.offset, rules: JobDefaults())
        _ = try object(fields.defaults, place: "defaults") { (decoder, field) throws(JSONFault) in
            try field.read(&decoder, &draft)
        }
        if let noProxy = draft.rules.noProxy { draft.rules.settings.proxy?.noProxy = noProxy }
        defaults = draft.rules
    }

    /// Offsets of the defaults mean nothing to whoever reads the jobs.
    ///
    /// - Parameter cursor: Stands before them.
    mutating func placeDefaults(_ cursor: SourceCursor) {
        defaults.networkPlaces = NetworkPlaces(defaults.networkRanges, cursor: cursor, in: reader.bytes)
        defaults.networkRanges = [:]
    }

    private mutating func limits(into limits: inout BatchLimits) throws(JSONFault) {
        _ = try object(LimitKey.table, place: "limits") { (decoder, key) throws(JSONFault) in
            switch key {
            case .concurrency: limits.concurrency = try decoder.integer(Self.concurrencies)
            case .perHost: limits.perHost = try decoder.perHost()
            case .limitRate: limits.limitRate = try decoder.rateLimit()
            case .requestRate: limits.requestRate = try decoder.requestRate()
            }
        }
    }

    /// A number, or `"auto"`.
    private mutating func perHost() throws(JSONFault) -> Int? {
        switch try reader.kind() {
        case .number: return try integer(Self.concurrencies)
        case .string:
            let text = try reader.string()
            if reader.string(text) != "auto" { note("expected a number or \"auto\"", text.token) }
            return nil
        case let kind:
            try mismatch("a number or \"auto\"", kind)
            return nil
        }
    }

    /// `"20/s"`, `"100/m"`, `"500/h"`, or a number a second.
    private mutating func requestRate() throws(JSONFault) -> Double? {
        let kind = try reader.kind()
        let start = reader.offset
        var rate: Double?
        switch kind {
        case .number: rate = reader.double(try reader.number())
        case .string: rate = Self.requestRate(reader.string(try reader.string()))
        default:
            try mismatch("a rate such as \"20/s\"", kind)
            return nil
        }
        guard let rate, rate > 0, rate <= 1_000_000 else {
            note("not a rate of requests; write \"20/s\", \"100/m\" or a number a second", start..<reader.offset)
            return nil
        }
        return rate
    }

    static func requestRate(_ text: String) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, first.first?.isNumber == true, let count = Double(first) else { return nil }
        switch parts.dropFirst().joined(separator: "/") {
        case "s" where parts.count == 2: return count
        case "m" where parts.count == 2: return count / 60
        case "h" where parts.count == 2: return count / 3600
        case "" where parts.count == 1: return count
        default: return nil
        }
    }
}
