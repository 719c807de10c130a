/// The values from which the jobs of a file start: its `defaults`, with options over them and the configuration under
/// them. They can differ from server to server.
package struct JobBases {
    /// The values from which a job starts.
    package struct Base {
        package var defaults: JobDefaults
        /// Whether a job's identity must be computed without the configuration, because the configuration changes its
        /// fingerprint.
        package var isConfigured = false
        /// The reason why the configuration cannot be used here, in words.
        package var fault: String?
    }

    /// The starting values without the configuration.
    package private(set) var plain = JobDefaults()
    private let rules: RequestRules
    private let sums: ChecksumSource
    private let fields: JobFields
    /// The file's `defaults`, as written.
    private var text: [UInt8]?
    private var made: [[Int]: Base] = [:]

    package init(rules: RequestRules, sums: ChecksumSource, fields: JobFields) {
        self.rules = rules
        self.sums = sums
        self.fields = fields
        if !rules.isEmpty { plain = rules.laid(over: plain, sums: sums) }
    }

    /// Whether jobs start with more than the plain defaults.
    package var isConfigured: Bool { !rules.configuration.isEmpty }

    /// Whether the starting values depend on a job's URLs.
    package var hasOrigins: Bool { rules.configuration.hasOrigins }

    /// Sets the values from which all later jobs start.
    ///
    /// - Parameter text: The JSON object as written.
    package mutating func set(_ new: JobDefaults, text: [UInt8]?) {
        plain = rules.laid(over: new, sums: sums)
        self.text = text
        made = [:]
    }

    /// Replaces the recorded places by ones that do not depend on the text they were read from.
    package mutating func place(_ places: NetworkPlaces) {
        plain.networkPlaces = places
        plain.networkRanges = [:]
        made = [:]
    }

    /// Returns the values from which a job starts.
    ///
    /// - Parameter urls: The job's own URLs.
    package mutating func base(for urls: [String]) -> Base {
        guard isConfigured else { return Base(defaults: plain) }
        let sections = rules.configuration.sections(for: urls)
        if let known = made[sections] { return known }
        let base = make(sections)
        made[sections] = base
        return base
    }

    /// Returns the configuration's rules alone for a URL.
    package func configuration(for url: String) -> JobSettings {
        guard isConfigured else { return JobSettings() }
        var defaults = JobDefaults()
        let value = rules.configuration.rules(of: rules.configuration.sections(for: [url]))
        _ = RequestRules.readConfiguration(value, over: &defaults, fields)
        return defaults.settings
    }

    private func make(_ sections: [Int]) -> Base {
        let value = rules.configuration.rules(of: sections)
        var base = Base(defaults: JobDefaults())
        base.fault = RequestRules.readConfiguration(value, over: &base.defaults, fields)
        if base.fault == nil, let text {
            // The text has been validated on its own before.
            _ = RequestRules.read(text, over: &base.defaults, sums: sums, fields)
        }
        base.defaults = rules.laid(over: base.defaults, sums: sums)
        (base.defaults.networkRanges, base.defaults.networkPlaces) = (plain.networkRanges, plain.networkPlaces)
        base.isConfigured = value.members.contains { member in
            fields.table.keys.contains { $0.key == member.name && $0.isPartOfFingerprint }
        }
        return base
    }
}
