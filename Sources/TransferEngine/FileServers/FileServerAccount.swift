import TransferCore

/// The user and the rules for which connections to file servers were made: no other user or rule shares them.
///
/// libcurl compares user and password of such connections, but no known hosts, no pinned key and no agent.
struct FileServerAccount: Sendable, Hashable {
    private let settings: FileServerSettings
    private let credentials: ExchangeSettings.Credentials
    private let proxies: ProxyRule

    init(_ exchange: ExchangeSettings) {
        var settings = exchange.files
        settings.createsFolders = false
        settings.usesActiveMode = false
        self.settings = settings
        credentials = exchange.credentials
        proxies = exchange.proxies
    }
}
