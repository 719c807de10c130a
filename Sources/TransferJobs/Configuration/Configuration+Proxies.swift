import TransferCore

// What the environment says of proxies holds where no file and no variable of the program's own does.
extension Configuration {
    /// The proxies for URLs of each kind.
    ///
    /// - Parameter rules: What is said of all transfers.
    static func entries(_ proxies: ProxyVariables, behind rules: ConfigurationValue) -> [ConfigurationEntry] {
        guard rules["proxy"] == nil else { return [] }
        return [
            entry(["environment", "proxy", "http"], proxies.http), entry(["environment", "proxy", "https"], proxies.https),
            exceptions(proxies, ["environment", "noProxy"]),
        ].compactMap { $0 }
    }

    /// The proxy of a URL.
    ///
    /// - Parameter rules: What is said of the URL.
    static func entries(
        _ proxies: ProxyVariables, for url: String, behind rules: ConfigurationValue
    ) -> [ConfigurationEntry] {
        guard rules["proxy"] == nil else { return [] }
        // The server of a bucket is known when a job of it begins.
        let origin = Origin(anyURL: url)
        guard let variable = origin?.scheme == "http" ? proxies.http : proxies.https else { return [] }
        if let origin, ProxyRule(proxies).way(to: origin) == nil, let exceptions = proxies.exceptions {
            let place = ConfigurationPlace.variable(exceptions.name)
            return [ConfigurationEntry(path: ["proxy"], value: "null", place: place)]
                + [self.exceptions(proxies, ["noProxy"])].compactMap { $0 }
        }
        return [entry(["proxy"], variable), exceptions(proxies, ["noProxy"])].compactMap { $0 }
    }

    private static func entry(_ path: [String], _ variable: ProxyVariables.Variable?) -> ConfigurationEntry? {
        guard let variable else { return nil }
        // Without a scheme it's one that speaks HTTP.
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

    private static func json(_ text: String) -> String {
        var writer = CanonicalWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
