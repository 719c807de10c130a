/// The keys of a configuration file, version 1.
package enum ConfigurationKey: String, CaseIterable {
    case schema = "$schema"
    case version, defaults, limits, origins, links, commands, serve, metrics, queue

    package static let table = KeyTable(allCases)
}

/// The keys of an entry of `origins`: those of `defaults`, and these.
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

/// The names that the node exporter's textfile collector looks at.
public enum MetricsFileName {
    public static func isCollected(_ path: String) -> Bool {
        path.hasSuffix(".prom") && path != ".prom" && !path.hasSuffix("/.prom")
    }
}

package enum ConfigurationFields {
    /// The keys of `defaults`: those of a job file's, but for what is about the files of one batch.
    package static let defaults = KeyTable(
        JobFields.all.defaults.keys.filter { $0.key != JobKey.checksums.rawValue }
    ) { $0.key }

    /// Keys whose objects have names of all kinds, also such as begin with `x-`.
    package static let named: Set<String> = [
        "headers", "metadata", "fields", "origins", "links", "commands", "allowSecret",
    ]

    /// Keys whose objects are one value: half of one and half of another would log in as nobody.
    package static let whole: Set<String> = ["auth", "proxy", "onFinish"]

    /// Keys whose `null` is a value: who unsets them has the environment say it.
    package static let switchedOff: Set<String> = ["proxy"]
}
