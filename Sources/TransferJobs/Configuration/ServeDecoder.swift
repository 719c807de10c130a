import TransferCore

/// The configuration's settings for the server of a queue; command-line options override them.
package struct ServeSettings: Sendable, Equatable {
    package var listen: String?
    package var directory: String?
    package var secret: SecretText?
    package var origins: [String] = []
    package var allowsPrivate: Bool?
    /// The servers to which each credential may be sent, by the credential's name.
    package var secrets: [String: [String]] = [:]
    /// The time for which batches are kept after their end; `nil` keeps them.
    package var keep: Duration?

    package init() {}
}

/// The keys of `serve`.
package enum ServeKey: String, CaseIterable {
    case listen, directory, secret, allowOrigin, allowPrivate, allowSecret, keep

    package static let table = KeyTable(allCases)
}

/// The reader of a configuration's `serve`; the decoder collects the faults.
package enum ServeDecoder {
    package static func read(_ decoder: inout JobDecoder, into settings: inout ServeSettings) throws(JSONFault) {
        // The value of a misspelt key may be a secret, so no message quotes it.
        _ = try decoder.object(ServeKey.table, place: "serve", isSecret: true) { (decoder, key) throws(JSONFault) in
            switch key {
            case .listen: settings.listen = try decoder.string { $0.isEmpty ? "the address is empty" : nil }
            case .directory:
                settings.directory = try decoder.string { path in
                    path.hasPrefix("/") ? nil : "a configuration holds in every folder: write the whole path, from / on"
                }
            case .secret:
                settings.secret = try SecretDecoder.read(&decoder, isSecret: true) { _ in
                    "a secret is named, never written; \(SecretDecoder.advice)"
                }
            case .allowOrigin:
                _ = try decoder.array { (decoder) throws(JSONFault) in
                    if let origin = try decoder.string({ Self.refusal(ofOrigin: $0) }) {
                        settings.origins.append(origin)
                    }
                }
            case .allowPrivate: settings.allowsPrivate = try decoder.boolean()
            case .allowSecret: try secrets(&decoder, &settings)
            case .keep: settings.keep = try decoder.duration()
            }
        }
    }

    /// Explains why a text is no origin of a web page.
    ///
    /// - Returns: The reason in words; `nil` for a valid origin.
    package static func refusal(ofOrigin text: String) -> String? {
        let isOrigin = text == "null" || text.contains("://") && text != "*" && !text.hasSuffix("/")
        return isOrigin ? nil : "an origin is SCHEME://HOST[:PORT], or null"
    }

    private static func secrets(_ decoder: inout JobDecoder, _ settings: inout ServeSettings) throws(JSONFault) {
        try ConfigurationDecoder.members(&decoder) { (decoder, name, place) throws(JSONFault) in
            if name.isEmpty { decoder.note("the name is empty", place) }
            _ = try decoder.array("an array of servers") { (decoder) throws(JSONFault) in
                let server = try decoder.string { text in
                    Origin(anyURL: text) == nil ? "a server is an origin, such as https://cdn.example" : nil
                }
                if let server { settings.secrets[name, default: []].append(server) }
            }
        }
    }
}

extension Configuration {
    /// The settings of the server, merged from all files.
    package var serve: ServeSettings {
        var settings = ServeSettings()
        Self.read(value(ConfigurationKey.serve.rawValue)) { (decoder) throws(JSONFault) in
            try ServeDecoder.read(&decoder, into: &settings)
        }
        return settings
    }
}
