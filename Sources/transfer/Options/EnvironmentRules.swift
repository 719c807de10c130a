import ArgumentParser
import TransferCore
import TransferQueue

/// The variables `TRANSFER_…`, each the same as an option: behind it, and before what files say.
enum EnvironmentRules {
    /// A variable that stands for a key of `defaults`.
    struct Rule: Sendable {
        let variable: String
        let key: String
        /// - Returns: `nil` for what is no such value.
        let value: @Sendable (String) -> JSONText?
    }

    static let rules: [Rule] = [
        Rule(variable: "TRANSFER_USER_AGENT", key: "headers") { .object(["User-Agent": .string($0)]) },
        Rule(variable: "TRANSFER_PROXY", key: "proxy") { ProxyOptions.url($0) },
        Rule(variable: "TRANSFER_NOPROXY", key: "noProxy") { .string($0) },
        Rule(variable: "TRANSFER_CACERT", key: "tls") { .object(["ca": .path($0)]) },
        Rule(variable: "TRANSFER_INTERFACE", key: "network") { .object(["require": .string($0)]) },
        Rule(variable: "TRANSFER_RETRY", key: "retry") { Int($0).map { .object(["limit": .number($0)]) } },
        Rule(variable: "TRANSFER_RETRY_DELAY", key: "retry") {
            TimeArgument(argument: $0).map { .object(["scale": $0.json, "maxDelay": $0.json]) }
        },
        Rule(variable: "TRANSFER_CONNECT_TIMEOUT", key: "connectTimeout") { TimeArgument(argument: $0)?.json },
        Rule(variable: "TRANSFER_TIMEOUT", key: "timeout") { TimeArgument(argument: $0)?.json },
        Rule(variable: "TRANSFER_MAX_TIME", key: "maxTime") { TimeArgument(argument: $0)?.json },
    ]

    /// - Throws: `ValidationError` that names the variable.
    static func add(to members: inout RequestMembers) throws {
        for rule in rules {
            guard let text = Composition.environment[rule.variable] else { continue }
            guard let value = rule.value(text) else {
                throw ValidationError("\(rule.variable): no value that its option takes")
            }
            members.add(rule.key, value, rule.variable)
        }
    }

    /// The variables that are set, for `transfer config`.
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

    /// The limits that variables set.
    ///
    /// - Throws: `ValidationError` that names the variable.
    static func batchLimits() throws -> BatchLimits {
        BatchLimits(
            concurrency: try count("TRANSFER_CONCURRENCY"), perHost: try perHost("TRANSFER_PER_HOST"),
            limitRate: try rate("TRANSFER_LIMIT_RATE"))
    }

    private static func count(_ variable: String) throws -> Int? {
        guard let text = Composition.environment[variable] else { return nil }
        if let value = Int(text), (1...10_000).contains(value) { return value }
        throw ValidationError("\(variable) takes a number from 1 to 10000")
    }

    private static func perHost(_ variable: String) throws -> PerHost? {
        guard let text = Composition.environment[variable] else { return nil }
        if let value = PerHost(text: text) { return value }
        throw ValidationError("\(variable) takes a number from 1 to 10000, or auto")
    }

    private static func rate(_ variable: String) throws -> Int64? {
        guard let text = Composition.environment[variable] else { return nil }
        if let amount = ByteAmount(argument: text) { return amount.bytes }
        throw ValidationError("\(variable) takes bytes a second, with K, M or G")
    }
}
