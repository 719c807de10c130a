import TransferCore

/// The settings for all transfers of a machine and a user, merged from several configuration files.
///
/// The configuration is weaker than a job, its job file and a command's options. It does not change a job's identity: a
/// batch that is done is not repeated when the configuration changes. The library searches for no files; its caller
/// reads them.
///
/// ```swift
/// let configuration = Configuration([
///     try ConfigurationFile(machine, name: "/etc/transfer/config.json"),
///     try ConfigurationFile(own, name: "/home/me/.config/transfer/config.json"),
/// ])
/// ```
public struct Configuration: Sendable {
    /// The files, from the weakest to the strongest.
    public let files: [ConfigurationFile]

    /// The origins of the sections of all files, in the order of the sections.
    private let patterns: [OriginPattern]

    /// Creates a configuration from files.
    ///
    /// - Parameter files: The files, from the weakest to the strongest; a later file's values replace those of an
    ///   earlier file.
    public init(_ files: [ConfigurationFile] = []) {
        self.files = files.indices.map { index in
            var file = files[index]
            // A section that a stronger file sets to `null` does not count, and the section that does so is no section
            // either.
            let unset = files[index...].flatMap(\.unsetOrigins)
            file.origins.removeAll { unset.contains($0.pattern.text) }
            return file
        }
        patterns = self.files.flatMap { $0.origins.map(\.pattern) }
    }

    /// Whether no file was given.
    public var isEmpty: Bool { files.isEmpty }

    /// The limits on all transfers together, and the limits of single origins.
    public var limits: BatchLimits {
        var limits = BatchLimits()
        Self.read(value("limits")) { (decoder) throws(JSONFault) in
            try LimitsDecoder.read(&decoder, into: &limits)
        }
        limits.origins = originLimits
        return limits
    }

    /// The commands that `onFinish` may name: for each name, a program's path and its arguments.
    public var commands: [String: [String]] {
        var commands: [String: [String]] = [:]
        for member in value("commands").members {
            Self.read(member.value) { (decoder) throws(JSONFault) in
                _ = try decoder.array { (decoder) throws(JSONFault) in
                    if let word = try decoder.string() { commands[member.name, default: []].append(word) }
                }
            }
        }
        return commands
    }

    /// The links that the configuration mentions, by name or name pattern, and whether each is metered.
    public var meteredLinks: [String: Bool] {
        var links: [String: Bool] = [:]
        for member in value("links").members {
            if case .leaf(let text, _)? = member.value[LinkKey.metered.rawValue] { links[member.name] = text == "true" }
        }
        return links
    }

    /// The file that receives a run's metrics: an absolute path that ends in `.prom`, or `nil` for none.
    public var metricsFile: String? {
        var path: String?
        Self.read(value("metrics")[MetricsKey.file.rawValue] ?? .unset) { (decoder) throws(JSONFault) in
            path = try decoder.string()
        }
        return path
    }

    /// Returns a top-level object, merged from all files.
    package func value(_ key: String) -> ConfigurationValue {
        files.reduce(ConfigurationValue.empty) { result, file in
            file.root[key].map { result.under($0) } ?? result
        }
    }

    /// Returns the indices, counted over all files, of the sections that apply to all of these URLs.
    ///
    /// A value of a single origin, such as a password, must not reach mirrors at other origins.
    package func sections(for urls: [String]) -> [Int] {
        guard hasOrigins else { return [] }
        let places = urls.map(URLPlace.init)
        guard !places.isEmpty, !places.contains(nil) else { return [] }
        return patterns.indices.filter { index in
            places.allSatisfy { place in place.map { patterns[index].matches($0) } ?? false }
        }
    }

    package var hasOrigins: Bool { !patterns.isEmpty }

    /// Returns the job rules that these sections yield. For each file, its `defaults` come first, then its sections
    /// with the longest pattern last.
    ///
    /// - Parameter withDefaults: `false` leaves `defaults` out, since they say nothing of a particular server.
    package func rules(of sections: [Int], withDefaults: Bool = true) -> ConfigurationValue {
        var result = ConfigurationValue.empty
        var first = 0
        for file in files {
            if withDefaults, let defaults = file.root["defaults"] { result = result.under(defaults) }
            let held = file.origins.indices.filter { sections.contains(first + $0) }
            for section in held.map({ file.origins[$0] }).sorted(by: Self.isShorter) {
                result = result.under(section.rules)
            }
            first += file.origins.count
        }
        return result
    }

    private static func isShorter(_ one: ConfigurationFile.Section, _ other: ConfigurationFile.Section) -> Bool {
        one.pattern.text.count < other.pattern.text.count
    }

    /// The limits of single origins, the strongest first: later files before earlier ones, then longer patterns.
    private var originLimits: [OriginLimits] {
        files.reversed().flatMap { file in
            file.origins.sorted(by: Self.isShorter).reversed().compactMap { Self.limits(of: $0) }
        }
    }

    private static func limits(of section: ConfigurationFile.Section) -> OriginLimits? {
        var limits = OriginLimits(section.pattern)
        let inner = section.rules["limits"] ?? .empty
        read(section.rules["perHost"] ?? inner["perHost"] ?? .unset) { (decoder) throws(JSONFault) in
            limits.perHost = try LimitsDecoder.perHost(&decoder)
        }
        read(inner["limitRate"] ?? .unset) { (decoder) throws(JSONFault) in
            limits.limitRate = try decoder.rateLimit()
        }
        read(inner["requestRate"] ?? .unset) { (decoder) throws(JSONFault) in
            limits.requestRate = try LimitsDecoder.requestRate(&decoder)
        }
        return limits.perHost == nil && limits.limitRate == nil && limits.requestRate == nil ? nil : limits
    }

    /// Reads a value that has been validated before.
    static func read(
        _ value: ConfigurationValue, _ body: (inout JobDecoder) throws(JSONFault) -> Void
    ) {
        if case .unset = value { return }
        Array(value.json.utf8).withUnsafeBufferPointer { bytes in
            var decoder = JobDecoder(JSONReader(bytes), sums: .none, form: .configuration)
            do throws(JSONFault) { try body(&decoder) } catch {
                // The parts were read by the same rules when their file was read.
                assertionFailure(error.message)
            }
        }
    }
}

/// The limits of an origin, or of all hosts that a pattern matches.
public struct OriginLimits: Sendable, Hashable {
    /// The origins to which the limits apply.
    public let pattern: OriginPattern
    /// The number of simultaneous transfers to one host; `nil` for no rule.
    public var perHost: PerHost?
    /// The rate of all matching transfers together, in bytes a second; `nil` for no rule.
    public var limitRate: Int64?
    /// The number of transfers that may start in a second at each matching origin, above 0; `nil` for no rule.
    public var requestRate: Double?

    /// Creates limits for the origins that a pattern matches; a limit of `nil` sets no rule.
    public init(
        _ pattern: OriginPattern, perHost: PerHost? = nil, limitRate: Int64? = nil, requestRate: Double? = nil
    ) {
        self.pattern = pattern
        self.perHost = perHost
        self.limitRate = limitRate
        self.requestRate = requestRate
    }
}
