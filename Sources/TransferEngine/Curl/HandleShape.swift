import TransferCore

/// All that the options of a handle depend on but the URL: a transfer of the same shape needs no others.
///
/// Setting them costs as much as a small transfer's own work, and most transfers of a session are alike.
final class HandleShape: Equatable {
    /// A body that leaves with the head is none of it: it's given like the URL.
    private let method: String
    private let mayExpect: Bool
    private let headers: [HeaderField]
    private let settings: Shared<ExchangeSettings>
    private let isLimited: Bool
    private let proxy: String?

    /// - Returns: `nil` for what is set up anew each time: bodies, credentials (whose state stays with a handle), also
    ///   a proxy's, addresses that libcurl is to be given, a connection that has to be new.
    init?(_ exchange: ActiveExchange, _ hop: Hop, resolved: [String]) {
        let settings = exchange.request.sharedSettings
        guard exchange.outgoing.isJoined || hop.method == "GET" && !hop.sendsBody, resolved.isEmpty,
            case .none = settings.wrappedValue.credentials, hop.authorization == nil,
            !exchange.connection.wantsNewConnection
        else { return nil }
        let proxy = settings.wrappedValue.way(to: hop.url)
        if let proxy, ProxyAddress(proxy).hasCredentials { return nil }
        method = hop.method
        mayExpect = hop.mayExpect
        headers = hop.headers
        self.settings = settings
        self.proxy = proxy
        isLimited = !exchange.limiters.isEmpty
    }

    static func == (one: HandleShape, other: HandleShape) -> Bool {
        one.method == other.method && one.mayExpect == other.mayExpect && one.headers == other.headers
            && one.settings == other.settings && one.isLimited == other.isLimited && one.proxy == other.proxy
    }
}
