import TransferCore

/// The facts that determine all options of a handle but the URL: a transfer of the same shape needs no new options.
///
/// Setting the options costs as much as a small transfer's own work, and most transfers of a session are alike.
final class HandleShape: Equatable {
    /// A body that leaves with the head is not part of the shape: it is set for each transfer like the URL.
    private let method: String
    private let mayExpect: Bool
    private let headers: [HeaderField]
    private let settings: Shared<ExchangeSettings>
    private let isLimited: Bool
    private let proxy: String?

    /// Determines the shape of a hop.
    ///
    /// - Returns: `nil` for hops that are set up anew each time. These have bodies, credentials (whose state stays with
    ///   a handle, also a proxy's), addresses for libcurl, or a connection that must be new.
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
