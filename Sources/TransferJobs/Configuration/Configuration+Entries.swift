public import TransferCore

extension Configuration {
    /// An environment variable that sets a key of `defaults` or of `limits`.
    public struct Variable: Sendable {
        /// The variable's name, without a dollar sign.
        public let name: String
        /// The key that the variable sets.
        public let key: String
        /// The key's value, as JSON.
        public let json: String
        /// Whether the key belongs to `limits`; it belongs to `defaults` otherwise.
        public let isLimit: Bool

        /// Creates a variable that sets a key to a JSON value.
        public init(_ name: String, key: String, json: String, isLimit: Bool = false) {
            self.name = name
            self.key = key
            self.json = json
            self.isLimit = isLimit
        }
    }

    /// Returns every value in force, the built-in values included.
    ///
    /// - Parameters:
    ///   - variables: Environment variables, which override the files.
    ///   - proxies: The environment's proxies, which the files override.
    public func entries(
        _ variables: [Variable] = [], proxies: ProxyVariables = .none
    ) -> [ConfigurationEntry] {
        var rules = files.reduce(Self.builtIn) { result, file in
            file.root["defaults"].map { result.under($0) } ?? result
        }
        rules = Self.laid(variables, over: rules)
        var entries = rules.entries(beneath: ["defaults"])
        entries += limits(variables).entries(beneath: ["limits"])
        entries += Self.entries(proxies, behind: rules)
        for key in [ConfigurationKey.origins, .links, .commands, .serve, .metrics, .queue] {
            entries += value(key.rawValue).entries(beneath: [key.rawValue])
        }
        return entries
    }

    /// Returns every value in force for a job with this URL, the built-in values included.
    ///
    /// - Parameters:
    ///   - variables: Environment variables, which override the files.
    ///   - proxies: The environment's proxies, which the files override.
    public func entries(
        for url: String, _ variables: [Variable] = [], proxies: ProxyVariables = .none
    ) -> [ConfigurationEntry] {
        let set = rules(of: sections(for: [url]))
        let own = ["perHost", "limits"]
        let isOwn = { (member: ConfigurationValue.Member) in own.contains(member.name) }
        let rules = Self.laid(variables, over: Self.builtIn.under(.object(set.members.filter { !isOwn($0) })))
        var entries = rules.entries() + Self.entries(proxies, for: url, behind: rules)
        entries += limits(variables).entries(beneath: ["limits"])
        for member in set.members where isOwn(member) {
            entries += member.value.entries(beneath: ["origin"] + (member.name == "limits" ? [] : [member.name]))
        }
        return entries
    }

    private func limits(_ variables: [Variable]) -> ConfigurationValue {
        let builtIn = ConfigurationValue(#"{"concurrency": 64, "perHost": "auto"}"#, from: .builtIn, key: "limits")
        return variables.filter(\.isLimit).reduce(builtIn.under(value("limits"))) { $0.under($1.value) }
    }

    private static func laid(_ variables: [Variable], over rules: ConfigurationValue) -> ConfigurationValue {
        variables.filter { !$0.isLimit }.reduce(rules) { $0.under($1.value) }
    }

    private static var builtIn: ConfigurationValue {
        var result = ConfigurationValue.empty
        // `lowSpeed` has no built-in entry: a key of it that is set replaces the whole object.
        for field in ConfigurationFields.defaults.keys where field.key != "lowSpeed" {
            if let standard = field.about.standard {
                result = result.under(.one(field.key, ConfigurationValue(standard, from: .builtIn, key: field.key)))
            }
            guard !ConfigurationFields.whole.contains(field.key) else { continue }
            for member in field.about.object?.members ?? [] {
                guard let standard = member.about.standard else { continue }
                let value = ConfigurationValue(standard, from: .builtIn, key: member.key)
                result = result.under(.one(field.key, .one(member.key, value)))
            }
        }
        return result
    }
}

extension Configuration.Variable {
    fileprivate var value: ConfigurationValue {
        .one(key, ConfigurationValue(json, from: .variable(name), key: key))
    }
}
