package import TransferCore

/// Settings for the requests of all jobs, such as a command's options: laid over the `defaults` of a job file, in their
/// grammar. A job's own key is stronger.
///
/// It may change from one run to the next. Header fields of it are sent, but make no other job of one: a batch that was
/// done isn't done again for a new header.
///
/// ```swift
/// var rules = RequestRules()
/// if let refusal = rules.set("retry", to: #"{"limit": 3}"#) { print(refusal) }
/// var reader = JobFileReader(format: nil, rules: rules, sums: readFile)
/// ```
public struct RequestRules: Sendable {
    /// Objects of one key each, in the order in which they are laid on each other.
    private var members: [[UInt8]] = []
    private var login: JobSettings.Auth?
    /// Stands behind the `defaults` of job files.
    public var configuration = Configuration()

    public init() {}

    /// Whether nothing is laid over `defaults`.
    public var isEmpty: Bool { members.isEmpty && login == nil }

    /// Logs in with a password that somebody typed, which is never stored.
    public mutating func logIn(as user: String, password: String) {
        login = .basic(user: .literal(user), password: .literal(password))
    }

    /// Lays the value of one key over what is there. Objects, such as `"tls"`, are merged; other values take the place of
    /// what was there.
    ///
    /// - Parameters:
    ///   - key: A key that a job file's `defaults` may have.
    ///   - json: Its value.
    ///   - sums: Reads a list of checksums that the value names.
    /// - Returns: What is wrong with the value, in words; `nil` when it was taken.
    public mutating func set(
        _ key: String, to json: String, sums: @escaping (String) throws -> [UInt8] = { _ in [] }
    ) -> String? {
        let member = Array("{\"\(key)\": \(json)}".utf8)
        let sums = ChecksumSource(sums)
        var rules = laid(over: JobDefaults(), sums: sums)
        if let refusal = Self.read(member, over: &rules, sums: sums) { return refusal }
        members.append(member)
        return nil
    }

    /// The rules of a job that no file and no configuration says anything of.
    public var settings: JobSettings { laid(over: JobDefaults(), sums: .none).settings }

    /// These without the configuration: what counts for whether a job is another one.
    public var unconfigured: RequestRules {
        var rules = self
        rules.configuration = Configuration()
        return rules
    }

    /// What a job of no file begins with.
    ///
    /// - Parameter urls: The job's own: what the configuration says of an origin holds where all of them are of it.
    /// - Throws: `TransferError` for files of a configuration that don't go together.
    package func beginning(for urls: [String]) throws(TransferError) -> JobDefaults {
        var bases = JobBases(rules: self, sums: .none, fields: .all)
        let base = bases.base(for: urls)
        if let fault = base.fault { throw TransferError(.invalidRequest, fault) }
        return base.defaults
    }

    /// A job file's `defaults` with these over them.
    package func laid(over defaults: JobDefaults, sums: ChecksumSource) -> JobDefaults {
        guard !isEmpty else { return defaults }
        var rules = defaults
        if let login { rules.settings.auth = login }
        for member in members { _ = Self.read(member, over: &rules, sums: sums) }
        let before = defaults.settings.headers
        for index in rules.settings.headers.indices {
            let header = rules.settings.headers[index]
            let old = before.first { $0.name.asciiCaseInsensitiveEquals(header.name) }
            if header != old { rules.settings.headers[index].standing = .laidOver(old?.value) }
        }
        return rules
    }

    /// Reads the rules of a configuration.
    ///
    /// - Returns: What is wrong, in words; `nil` when it was read.
    package static func readConfiguration(
        _ value: ConfigurationValue, over rules: inout JobDefaults, _ fields: JobFields
    ) -> String? {
        let own: Set<String> = [OriginKey.perHost.name, OriginKey.limits.name]
        let members = ConfigurationValue.object(value.members.filter { !own.contains($0.name) })
        return read(Array(members.json.utf8), over: &rules, sums: .none, fields)
            .map { "the configuration files don't go together: \($0)" }
    }

    /// - Returns: What is wrong, in words; `nil` when it was read.
    package static func read(
        _ member: [UInt8], over rules: inout JobDefaults, sums: ChecksumSource, _ fields: JobFields = .all
    ) -> String? {
        member.withUnsafeBufferPointer { bytes in
            var decoder = JobDecoder(JSONReader(bytes), sums: sums, fields: fields)
            var draft = JobDraft(start: 0, rules: rules)
            do throws(JSONFault) {
                _ = try decoder.object(decoder.fields.defaults, place: "defaults") {
                    (decoder, field) throws(JSONFault) in try field.read(&decoder, &draft)
                }
                try decoder.reader.expectEnd()
            } catch {
                return error.message
            }
            if let problem = decoder.takeProblems().kept.first { return problem.message }
            // The places of a job file are in its own text.
            (draft.rules.networkRanges, draft.rules.networkPlaces) = (rules.networkRanges, rules.networkPlaces)
            rules = draft.rules
            return nil
        }
    }
}
