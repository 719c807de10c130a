import CTransferPSL

/// Under which names anybody can register one of their own (the Public Suffix List): `com`, `co.uk`, `github.io`.
enum PublicSuffix {
    // Loaded once and only read afterwards.
    private nonisolated(unsafe) static let list = transfer_psl_list()

    /// Whether a cookie for the whole domain would reach strangers. Without a list every domain is taken for one.
    ///
    /// - Parameter domain: In lower case, as punycode.
    static func contains(_ domain: String) -> Bool {
        guard let list else { return true }
        return transfer_psl_is_public_suffix(list, domain) != 0
    }

    /// The part of a host's name that its owner registered; `nil` for a public suffix.
    static func registrable(_ host: String) -> String? {
        guard let list else { return nil }
        return host.withCString { text in transfer_psl_registrable(list, text).map { String(cString: $0) } }
    }
}
