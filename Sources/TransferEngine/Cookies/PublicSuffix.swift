import CTransferPSL

/// The Public Suffix List: the names below which anyone can register a name (`com`, `co.uk`, `github.io`).
enum PublicSuffix {
    // The list is loaded once and only read afterwards.
    private nonisolated(unsafe) static let list = transfer_psl_list()

    /// Returns whether a cookie for the whole domain would reach strangers. Without a list every domain counts as a
    /// suffix.
    ///
    /// - Parameter domain: A domain in lower case, as punycode.
    static func contains(_ domain: String) -> Bool {
        guard let list else { return true }
        return transfer_psl_is_public_suffix(list, domain) != 0
    }

    /// Returns the part of a host's name that its owner registered, or `nil` for a public suffix.
    static func registrable(_ host: String) -> String? {
        guard let list else { return nil }
        return host.withCString { text in transfer_psl_registrable(list, text).map { String(cString: $0) } }
    }
}
