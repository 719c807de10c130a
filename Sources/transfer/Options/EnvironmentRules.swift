import ArgumentParser
import TransferCore
import TransferQueue

/// The variables `TRANSFER_…`, each equal to an option: an option overrides it, and it overrides files.
enum EnvironmentRules {
    /// A variable that stands for a key of `defaults`.
    struct Rule: Sendable {
        let variable: String
        let key: String
        /// The conversion of the variable's text.
        ///
        /// - Throws: `RefusedValue`
        let value: @Sendable (String) throws -> JSONText
    }

    static let rules: [Rule] = [
        Rule(variable: "TRANSFER_USER_AGENT", key: "headers") { .object(["User-Agent": .string($0)]) },
        Rule(variable: "TRANSFER_PROXY", key: "proxy") { ProxyOptions.url($0) },
        Rule(variable: "TRANSFER_NOPROXY", key: "noProxy") { .string($0) },
        Rule(variable: "TRANSFER_CACERT", key: "tls") { .object(["ca": .path($0)]) },
        Rule(variable: "TRANSFER_INTERFACE", key: "network") { .object(["require": .string($0)]) },
        Rule(variable: "TRANSFER_RETRY", key: "retry") {
            .object(["limit": .number(try WholeNumber.read($0, FieldRanges.retries))])
        },
        Rule(variable: "TRANSFER_RETRY_DELAY", key: "retry") {
            let delay = try Delay.read($0).json
            return .object(["scale": delay, "maxDelay": delay])
        },
        Rule(variable: "TRANSFER_CONNECT_TIMEOUT", key: "connectTimeout") { try TimeSpan.read($0).json },
        Rule(variable: "TRANSFER_TIMEOUT", key: "timeout") { try TimeSpan.read($0).json },
        Rule(variable: "TRANSFER_MAX_TIME", key: "maxTime") { try TimeSpan.read($0).json },
    ]

    /// Adds the values of the variables.
    ///
    /// - Throws: `ValidationError` that names the variable.
    static func add(to members: inout RequestMembers) throws {
        for rule in rules {
            guard let text = Composition.environment[rule.variable] else { continue }
            do {
                members.add(rule.key, try rule.value(text), rule.variable)
            } catch let refusal as RefusedValue {
                throw refusal.validation(of: rule.variable, text)
            }
        }
    }

    /// Returns the variables that are set, for `transfer config`.
    ///
    /// - Throws: `ValidationError` that names the variable.
    static func variables() throws -> [Configuration.Variable] {
        var members = RequestMembers()
        try add(to: &members)
        let set = rules.filter { Composition.environment[$0.variable] != nil }
        let keys = zip(set, members.texts).map { Configuration.Variable($0.variable, key: $0.key, json: $1) }
        let limits = try batchLimits()
        let values = [
            ("TRANSFER_CONCURRENCY", "concurrency", limits.concurrency.map { "\($0)" }),
            ("TRANSFER_PER_HOST", "perHost", limits.perHost?.json),
            ("TRANSFER_LIMIT_RATE", "limitRate", limits.limitRate.map { "\($0)" }),
        ]
        return keys
            + values.compactMap { name, key, value in
                value.map { Configuration.Variable(name, key: key, json: $0, isLimit: true) }
            }
    }

    /// Returns the limits that variables set.
    ///
    /// - Throws: `ValidationError` that names the variable.
    static func batchLimits() throws -> BatchLimits {
        BatchLimits(
            concurrency: try value("TRANSFER_CONCURRENCY") { try WholeNumber.read($0, FieldRanges.concurrencies) },
            perHost: try value("TRANSFER_PER_HOST") { try PerHostArgument.read($0).value },
            limitRate: try value("TRANSFER_LIMIT_RATE") { try RateArgument.read($0).bytes })
    }

    /// Returns the value of a variable.
    ///
    /// - Throws: `ValidationError` that names the variable.
    private static func value<Value>(_ variable: String, _ read: (String) throws -> Value) throws -> Value? {
        guard let text = Composition.environment[variable] else { return nil }
        do {
            return try read(text)
        } catch let refusal as RefusedValue {
            throw refusal.validation(of: variable, text)
        }
    }
}
