import TransferCore

/// The host whose addresses a connection needs: a proxy or the server.
struct LookUpTarget: Sendable {
    let host: String
    let port: Int
    /// The proxy that the host is, if it is one.
    private(set) var proxy: ProxyAddress?
    /// Whether the host's addresses have to be public, since libcurl connects to a proxy and cannot judge them.
    private(set) var isJudged = false
    /// Whether libcurl needs the addresses; a proxy that looks up names receives the name.
    private(set) var isGiven = true
    var key: String { "\(host):\(port)" }

    /// Creates a target; `nil` for addresses and for names that libcurl knows itself.
    init?(host: String, port: Int) {
        guard IPAddress(host) == nil, host != "localhost", !host.hasSuffix(".localhost"), !host.isEmpty,
            host.utf8.allSatisfy({ $0 < 0x80 })
        else { return nil }
        self.host = host
        self.port = port
    }

    /// Creates the target of a server behind a proxy, whose addresses are judged before the proxy is asked.
    ///
    /// - Parameter isGiven: Whether libcurl needs the addresses, because the proxy takes no names.
    init(judged origin: Origin, isGiven: Bool) {
        host = origin.host
        port = origin.port
        isJudged = true
        self.isGiven = isGiven
    }

    /// Returns the hosts to look up for a connection: the server, or the proxy, or both where a SOCKS proxy takes
    /// addresses.
    ///
    /// - Parameter isPublicOnly: Whether a server behind a proxy has to have public addresses, so that it is looked up
    ///   in every case.
    static func all(_ origin: Origin, proxy: String?, isPublicOnly: Bool) -> [LookUpTarget] {
        guard let proxy else { return [LookUpTarget(host: origin.host, port: origin.port)].compactMap { $0 } }
        let address = ProxyAddress(proxy)
        var hop = LookUpTarget(host: address.host, port: address.port)
        hop?.proxy = address
        let server = address.looksUpNames ? nil : LookUpTarget(host: origin.host, port: origin.port)
        guard isPublicOnly else { return [hop, server].compactMap { $0 } }
        return [hop, LookUpTarget(judged: origin, isGiven: server != nil)].compactMap { $0 }
    }

    /// Returns the error for addresses that a job for public servers may not reach.
    func refusal(_ addresses: [String]) -> TransferError? {
        guard isJudged, let refused = addresses.first(where: { IPAddress($0)?.isPublic != true }) else { return nil }
        return .addressRefused(host: host, address: refused)
    }

    /// Returns the error of a failed look-up, as a fault of the proxy where the host is one.
    func fault(_ error: TransferError) -> TransferError {
        guard let proxy else { return error }
        var error = error
        // The replaced text is the resolver's message.
        error.message.replace("the host \(host)", with: "the proxy \(host)", maxReplacements: 1)
        // The error says nothing against a proxy if this machine could not ask for its name.
        return error.scope == .origin ? error.blaming(proxy) : error
    }

    /// Returns the entry for CURLOPT_RESOLVE(3). It lacks the `+`, so that libcurl never asks over an arbitrary link.
    func entry(_ addresses: [String]) -> String {
        let list = addresses.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 }.joined(separator: ",")
        return "\(host):\(port):\(list)"
    }
}

/// A cache of the last targets of a URL: most URLs are of the same few origins.
struct LookUpCache {
    struct LookUp {
        let targets: [LookUpTarget]
        /// The `HOST:PORT` of a server that is reached by its IPv4 address (libcurl 7.88 cannot remove an IPv6
        /// address).
        let address: String?
    }

    private var authority: [UInt8] = []
    private var proxy: String?
    private var isPublicOnly = false
    private var lookUp: LookUp?

    /// Finds the targets of a URL.
    ///
    /// - Returns: `nil` for a text that is no `http`, `https`, `ftp`, `ftps` or `sftp` URL.
    mutating func find(_ url: String, proxy: String?, isPublicOnly: Bool) -> LookUp? {
        if let lookUp, proxy == self.proxy, isPublicOnly == self.isPublicOnly, isSame(url) { return lookUp }
        guard let origin = Origin(url: url) ?? Origin(fileServerURL: url) else { return nil }
        let isAddress = proxy == nil && IPAddress(origin.host)?.bytes.count == 4
        let made = LookUp(
            targets: LookUpTarget.all(origin, proxy: proxy, isPublicOnly: isPublicOnly),
            address: isAddress ? "\(origin.host):\(origin.port)" : nil)
        authority = Array(url.utf8.prefix(url.lengthThroughAuthority))
        self.proxy = proxy
        self.isPublicOnly = isPublicOnly
        lookUp = made
        return made
    }

    private func isSame(_ url: String) -> Bool {
        url.hasUTF8Prefix(authority) && url.lengthThroughAuthority == authority.count
    }
}
