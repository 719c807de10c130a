/// What the jobs of a file begin with: its `defaults`, with the rules of options over them and a configuration under them,
/// which can be another one for each server.
package struct JobBases {
    /// A beginning.
    package struct Base {
        package var defaults: JobDefaults
        /// Jobs are told apart without it: by what they would be without the configuration.
        package var isConfigured = false
        /// What makes the configuration unusable here, in words.
        package var fault: String?
    }

    /// Without the configuration.
    package private(set) var plain = JobDefaults()
    private let rules: RequestRules
    private let sums: ChecksumSource
    private let fields: JobFields
    /// The file's `defaults` as they are written.
    private var text: [UInt8]?
    private var made: [[Int]: Base] = [:]

    package init(rules: RequestRules, sums: ChecksumSource, fields: JobFields) {
        self.rules = rules
        self.sums = sums
        self.fields = fields
        if !rules.isEmpty { plain = rules.laid(over: plain, sums: sums) }
    }

    /// Whether jobs begin with anything else than the plain defaults.
    package var isConfigured: Bool { !rules.configuration.isEmpty }

    /// Whether it depends on a job's URLs.
    package var hasOrigins: Bool { rules.configuration.hasOrigins }

    /// Has jobs begin with these from now on.
    ///
    /// - Parameter text: The object as it's written.
    package mutating func set(_ new: JobDefaults, text: [UInt8]?) {
        plain = rules.laid(over: new, sums: sums)
        self.text = text
        made = [:]
    }

    /// Makes the places independent of the text that they were read from.
    package mutating func place(_ places: NetworkPlaces) {
        plain.networkPlaces = places
        plain.networkRanges = [:]
        made = [:]
    }

    /// The beginning of a job.
    ///
    /// - Parameter urls: The job's own.
    package mutating func base(for urls: [String]) -> Base {
        guard isConfigured else { return Base(defaults: plain) }
        let sections = rules.configuration.sections(for: urls)
        if let known = made[sections] { return known }
        let base = make(sections)
        made[sections] = base
        return base
    }

    /// The rules of the configuration alone for a URL.
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
            // It was read before, by itself.
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
