package import TransferCore

/// The settings for the requests of all jobs, such as a command's options. They are merged over the `defaults` of a job
/// file, in the same grammar; a job's own key is stronger.
///
/// The rules may change from one run to the next. Their header fields are sent, but do not change a job's identity: a
/// completed batch is not repeated for a new header.
///
/// ```swift
/// var rules = RequestRules()
/// if let refusal = rules.set("retry", to: #"{"limit": 3}"#) { print(refusal) }
/// var reader = JobFileReader(format: nil, rules: rules, sums: readFile)
/// ```
public struct RequestRules: Sendable {
    /// Objects with one key each, in the order in which they are merged.
    private var members: [[UInt8]] = []
    private var login: JobSettings.Auth?
    /// The configuration, which is weaker than the `defaults` of job files.
    public var configuration = Configuration()

    /// Creates rules that set nothing.
    public init() {}

    /// Whether nothing is merged over `defaults`.
    public var isEmpty: Bool { members.isEmpty && login == nil }

    /// Sets a login with a password that the user typed, which is never stored.
    public mutating func logIn(as user: String, password: String) {
        login = .basic(user: .literal(user), password: .literal(password))
    }

    /// Sets the value of one key. Objects, such as `"tls"`, are merged; other values replace the previous one.
    ///
    /// - key: A key that a job file's `defaults` may have.
    ///   - key: A key that a job file's `defaults` may have.
    /// - json: The key's value, as JSON.
    /// - sums: A closure that reads a list of checksums named by the value.
    /// - Returns: The fault of the value, in words; `nil` where the value was accepted.
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

    /// The settings of a job for which neither a file nor the configuration sets anything.
    public var settings: JobSettings { laid(over: JobDefaults(), sums: .none).settings }

    /// The rules without the configuration, which alone decide whether two jobs are the same.
    public var unconfigured: RequestRules {
        var rules = self
        rules.configuration = Configuration()
        return rules
    }

    /// Returns the values from which a job without a file starts.
    ///
    /// - Parameter urls: The job's URLs; the configuration of an origin applies only where all of them belong to it.
    /// - Throws: `TransferError` for configuration files that contradict each other.
    package func beginning(for urls: [String]) throws(TransferError) -> JobDefaults {
        var bases = JobBases(rules: self, sums: .none, fields: .all)
        let base = bases.base(for: urls)
        if let fault = base.fault { throw TransferError(.invalidRequest, fault) }
        return base.defaults
    }

    /// Returns a job file's `defaults` with these rules merged over them.
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
    /// - Returns: The fault, in words; `nil` for a valid configuration.
    package static func readConfiguration(
        _ value: ConfigurationValue, over rules: inout JobDefaults, _ fields: JobFields
    ) -> String? {
        let own: Set<String> = [OriginKey.perHost.name, OriginKey.limits.name]
        let members = ConfigurationValue.object(value.members.filter { !own.contains($0.name) })
        return read(Array(members.json.utf8), over: &rules, sums: .none, fields)
            .map { "the configuration files do not go together: \($0)" }
    }

    /// Reads one object of rules.
    ///
    /// - Returns: The fault, in words; `nil` for a valid object.
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
            // The places of a job file refer to its own text.
            (draft.rules.networkRanges, draft.rules.networkPlaces) = (rules.networkRanges, rules.networkPlaces)
            rules = draft.rules
            return nil
        }
    }
}
