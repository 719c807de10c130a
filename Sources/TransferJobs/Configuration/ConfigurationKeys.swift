/// The keys of a configuration file, version 1.
package enum ConfigurationKey: String, CaseIterable {
    case schema = "$schema"
    case version, defaults, limits, origins, links, commands, serve, metrics, queue

    package static let table = KeyTable(allCases)
}

/// The keys of an entry of `origins`: the keys of `defaults`, `perHost` and `limits`.
package enum OriginKey: Sendable {
    case perHost, limits
    case job(JobField)

    package var name: String {
        switch self {
        case .perHost: "perHost"
        case .limits: "limits"
        case .job(let field): field.key
        }
    }

    package static let table = KeyTable([.perHost, .limits] + ConfigurationFields.defaults.keys.map(OriginKey.job)) {
        $0.name
    }
}

/// The keys of an origin's `limits`.
package enum OriginLimitKey: String, CaseIterable {
    case perHost, limitRate, requestRate

    package static let table = KeyTable(allCases)
}

/// The keys of a link.
package enum LinkKey: String, CaseIterable {
    case metered

    package static let table = KeyTable(allCases)
}

/// The keys of `metrics`.
package enum MetricsKey: String, CaseIterable {
    case file

    package static let table = KeyTable(allCases)
}

/// The rule for names of metrics files.
public enum MetricsFileName {
    /// Returns whether the textfile collector of the node exporter reads a file with this path (`*.prom`).
    public static func isCollected(_ path: String) -> Bool {
        path.hasSuffix(".prom") && path != ".prom" && !path.hasSuffix("/.prom")
    }
}

package enum ConfigurationFields {
    /// The keys of `defaults`: the same as in a job file, without those that concern the files of one batch.
    package static let defaults = KeyTable(
        JobFields.all.defaults.keys.filter { $0.key != JobKey.checksums.rawValue }
    ) { $0.key }

    /// The keys whose objects have freely chosen names, which may begin with `x-`.
    package static let named: Set<String> = [
        "headers", "metadata", "fields", "origins", "links", "commands", "allowSecret",
    ]

    /// The keys whose objects are replaced as a whole. Half of one login and half of another would log in no user at
    /// all.
    package static let whole: Set<String> = ["auth", "proxy", "onFinish"]

    /// The keys for which `null` is a value of its own. Unsetting such a key would let the environment decide instead.
    package static let switchedOff: Set<String> = ["proxy"]
}
