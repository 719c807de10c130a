import TransferCore

/// The settings of a machine and a user for all transfers: configuration files, laid on each other.
///
/// The configuration stands behind what a job, its file and a command's options say, and makes no other job of one: a
/// batch that was done isn't done again when the configuration changes. The library looks for no files; who uses it
/// reads them.
///
/// ```swift
/// let configuration = Configuration([
///     try ConfigurationFile(machine, name: "/etc/transfer/config.json"),
///     try ConfigurationFile(own, name: "/home/me/.config/transfer/config.json"),
/// ])
/// ```
public struct Configuration: Sendable {
    /// The files, the weakest first.
    public let files: [ConfigurationFile]

    /// The origins that the sections of all files are for, in the order of the sections.
    private let patterns: [OriginPattern]

    /// - Parameter files: The weakest first: a later one's values take the place of an earlier one's.
    public init(_ files: [ConfigurationFile] = []) {
        self.files = files.indices.map { index in
            var file = files[index]
            // A section that a stronger file unsets is none, and one that unsets isn't either.
            let unset = files[index...].flatMap(\.unsetOrigins)
            file.origins.removeAll { unset.contains($0.pattern.text) }
            return file
        }
        patterns = self.files.flatMap { $0.origins.map(\.pattern) }
    }

    public var isEmpty: Bool { files.isEmpty }

    /// Bounds on the work, with those of origins.
    public var limits: BatchLimits {
        var limits = BatchLimits()
        Self.read(value("limits")) { (decoder) throws(JSONFault) in
            try LimitsDecoder.read(&decoder, into: &limits)
        }
        limits.origins = originLimits
        return limits
    }

    /// The commands that `onFinish` may name: each a program's path and its arguments.
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

    /// What is said of links: their names, or patterns of names, and whether they are metered.
    public var meteredLinks: [String: Bool] {
        var links: [String: Bool] = [:]
        for member in value("links").members {
            if case .leaf(let text, _)? = member.value[LinkKey.metered.rawValue] { links[member.name] = text == "true" }
        }
        return links
    }

    /// The file that a run's metrics are written to: an absolute path that ends in `.prom`; `nil` for none.
    public var metricsFile: String? {
        var path: String?
        Self.read(value("metrics")[MetricsKey.file.rawValue] ?? .unset) { (decoder) throws(JSONFault) in
            path = try decoder.string()
        }
        return path
    }

    /// An object of all files.
    package func value(_ key: String) -> ConfigurationValue {
        files.reduce(ConfigurationValue.empty) { result, file in
            file.root[key].map { result.under($0) } ?? result
        }
    }

    /// The numbers of the sections that hold for all of the URLs, counted over all files.
    ///
    /// What is of one origin, such as a password, isn't for the mirrors elsewhere.
    package func sections(for urls: [String]) -> [Int] {
        guard hasOrigins else { return [] }
        let places = urls.map(URLPlace.init)
        guard !places.isEmpty, !places.contains(nil) else { return [] }
        return patterns.indices.filter { index in
            places.allSatisfy { place in place.map { patterns[index].matches($0) } ?? false }
        }
    }

    package var hasOrigins: Bool { !patterns.isEmpty }

    /// The rules of jobs for which these sections hold: in each file its `defaults`, then the sections, the longest
    /// pattern last.
    ///
    /// - Parameter withDefaults: `false` leaves `defaults` out: what is said of all is no word on a single server.
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

    /// The strongest first: of the later file, and there of the longest pattern.
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

    /// Reads a value that was found to be in order.
    static func read(
        _ value: ConfigurationValue, _ body: (inout JobDecoder) throws(JSONFault) -> Void
    ) {
        if case .unset = value { return }
        Array(value.json.utf8).withUnsafeBufferPointer { bytes in
            var decoder = JobDecoder(JSONReader(bytes), sums: .none, form: .configuration)
            do throws(JSONFault) { try body(&decoder) } catch {
                // Each part was read when its file was, by the same rules.
                assertionFailure(error.message)
            }
        }
    }
}

/// Bounds of an origin, or of the hosts that a pattern stands for.
public struct OriginLimits: Sendable, Hashable {
    public let pattern: OriginPattern
    /// Transfers under way at once to one host.
    public var perHost: PerHost?
    /// Bytes a second for all transfers together that the pattern stands for.
    public var limitRate: Int64?
    /// Transfers that start in a second, at each origin that the pattern stands for; above 0.
    public var requestRate: Double?

    public init(
        _ pattern: OriginPattern, perHost: PerHost? = nil, limitRate: Int64? = nil, requestRate: Double? = nil
    ) {
        self.pattern = pattern
        self.perHost = perHost
        self.limitRate = limitRate
        self.requestRate = requestRate
    }
}
