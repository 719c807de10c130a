import TransferCore

// The environment's proxies apply where no file and no variable of this program names a proxy.
extension Configuration {
    /// Returns the entries for the environment's proxies, one for each kind of URL.
    ///
    /// - Parameter rules: The values in force for all transfers.
    static func entries(_ proxies: ProxyVariables, behind rules: ConfigurationValue) -> [ConfigurationEntry] {
        guard rules["proxy"] == nil else { return [] }
        let proxies = proxies.under(rules)
        return [
            entry(["environment", "proxy", "http"], proxies.http),
            entry(["environment", "proxy", "https"], proxies.https),
            exceptions(proxies, ["environment", "noProxy"]),
        ].compactMap { $0 }
    }

    /// Returns the entries for the proxy of one URL.
    ///
    /// - Parameter rules: The values in force for the URL.
    static func entries(
        _ proxies: ProxyVariables, for url: String, behind rules: ConfigurationValue
    ) -> [ConfigurationEntry] {
        guard rules["proxy"] == nil else { return [] }
        var rule = ProxyRule(proxies)
        if let own = rules["noProxy"].flatMap({ Self.string($0) }) { rule.exceptions = ProxyRule.list(own) }
        let proxies = proxies.under(rules)
        // The server of an `s3://` URL is known only when its job begins.
        let origin = Origin(anyURL: url)
        guard let variable = origin?.scheme == "http" ? proxies.http : proxies.https else { return [] }
        if let origin, rule.way(to: origin) == nil {
            let place: ConfigurationPlace
            if case .leaf(_, let known)? = rules["noProxy"] {
                place = known
            } else {
                place = .variable(proxies.exceptions?.name ?? variable.name)
            }
            return [ConfigurationEntry(path: ["proxy"], value: "null", place: place)]
                + [exceptions(proxies, ["noProxy"])].compactMap { $0 }
        }
        return [entry(["proxy"], variable), exceptions(proxies, ["noProxy"])].compactMap { $0 }
    }

    private static func entry(_ path: [String], _ variable: ProxyVariables.Variable?) -> ConfigurationEntry? {
        guard let variable else { return nil }
        // A proxy without a scheme is an HTTP proxy.
        let hasScheme = variable.value.firstRange(of: "://") != nil
        return ConfigurationEntry(
            path: path, value: json(hasScheme ? variable.value : "http://" + variable.value),
            place: .variable(variable.name))
    }

    private static func exceptions(_ proxies: ProxyVariables, _ path: [String]) -> ConfigurationEntry? {
        guard proxies.http != nil || proxies.https != nil else { return nil }
        return proxies.exceptions.map {
            ConfigurationEntry(path: path, value: json($0.value), place: .variable($0.name))
        }
    }

    private static func string(_ value: ConfigurationValue) -> String? {
        var text: String?
        read(value) { (decoder) throws(JSONFault) in text = try decoder.string() }
        return text
    }

    private static func json(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension ProxyVariables {
    /// Returns the proxies without their list of exceptions where the rules have such a list themselves.
    fileprivate func under(_ rules: ConfigurationValue) -> ProxyVariables {
        guard rules["noProxy"] != nil else { return self }
        return ProxyVariables(http: http, https: https)
    }
}
