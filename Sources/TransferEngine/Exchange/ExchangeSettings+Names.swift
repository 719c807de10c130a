public import TransferCore

/// The settings of an exchange's parts under flat names.
extension ExchangeSettings {
    /// The longest time until a connection stands (``Timeouts/connect``).
    public var connectTimeout: Duration {
        get { timeouts.connect }
        set { timeouts.connect = newValue }
    }

    /// The time after which a slow transfer has stalled (``Timeouts/lowSpeedTime``).
    public var lowSpeedTime: Duration {
        get { timeouts.lowSpeedTime }
        set { timeouts.lowSpeedTime = newValue }
    }

    /// The rate below which a transfer is slow, in bytes a second (``Timeouts/lowSpeedRate``).
    public var lowSpeedRate: Int64 {
        get { timeouts.lowSpeedRate }
        set { timeouts.lowSpeedRate = newValue }
    }

    /// The longest time without a byte in either direction (``Timeouts/idle``).
    public var idleTimeout: Duration? {
        get { timeouts.idle }
        set { timeouts.idle = newValue }
    }

    /// The longest time of an exchange (``Timeouts/total``).
    public var maxTime: Duration? {
        get { timeouts.total }
        set { timeouts.total = newValue }
    }

    /// The most redirects that are followed (``Redirects/most``).
    public var maxRedirects: Int {
        get { redirects.most }
        set { redirects.most = newValue }
    }

    /// Whether redirects are followed at all (``Redirects/areFollowed``).
    public var followsRedirects: Bool {
        get { redirects.areFollowed }
        set { redirects.areFollowed = newValue }
    }

    /// Whether redirects that turn the request into another are followed (``Redirects/mayTurnRequests``).
    public var turnsRequests: Bool {
        get { redirects.mayTurnRequests }
        set { redirects.mayTurnRequests = newValue }
    }

    /// Whether the body of an idempotent request is sent again (``Sending/resendsBody``).
    public var resendsBody: Bool {
        get { sending.resendsBody }
        set { sending.resendsBody = newValue }
    }

    /// Whether a small body leaves together with the head (``Sending/joinsSmallBodies``).
    public var joinsSmallBodies: Bool {
        get { sending.joinsSmallBodies }
        set { sending.joinsSmallBodies = newValue }
    }

    /// Whether a long body waits for the server's 100 (``Sending/expectsContinue``).
    public var expectsContinue: Bool {
        get { sending.expectsContinue }
        set { sending.expectsContinue = newValue }
    }

    /// The proxies to use (``Route/proxies``).
    public var proxies: ProxyRule {
        get { route.proxies }
        set { route.proxies = newValue }
    }

    /// The file of authorities for a proxy's certificate (``Route/proxyAuthorities``).
    public var proxyAuthorities: String? {
        get { route.proxyAuthorities }
        set { route.proxyAuthorities = newValue }
    }

    /// The path of a Unix socket that replaces the network (``Route/unixSocket``).
    public var unixSocket: String? {
        get { route.unixSocket }
        set { route.unixSocket = newValue }
    }

    /// The only link that the exchange may use (``Route/link``).
    public var link: String? {
        get { route.link }
        set { route.link = newValue }
    }

    /// The rule for a body that only the end of its connection ends (``Receiving/openEnd``).
    public var openEnd: OpenEnd {
        get { receiving.openEnd }
        set { receiving.openEnd = newValue }
    }

    /// The kept bytes of an error's body (``Receiving/keptOfRefusals``).
    public var keptOfRefusals: Int {
        get { receiving.keptOfRefusals }
        set { receiving.keptOfRefusals = newValue }
    }

    /// The most bytes of one read from the network (``Receiving/receiveBufferSize``).
    public var receiveBufferSize: Int {
        get { receiving.receiveBufferSize }
        set { receiving.receiveBufferSize = newValue }
    }

    /// Whether a coded message is decoded (``Receiving/decodes``).
    public var decodes: Bool {
        get { receiving.decodes }
        set { receiving.decodes = newValue }
    }

    /// Whether a coded file is decoded (``Receiving/decodesFiles``).
    public var decodesFiles: Bool {
        get { receiving.decodesFiles }
        set { receiving.decodesFiles = newValue }
    }

    /// The most bytes of a decoded answer (``Receiving/maxDecodedLength``).
    public var maxDecodedLength: Int64? {
        get { receiving.maxDecodedLength }
        set { receiving.maxDecodedLength = newValue }
    }

    /// The URL of one proxy for all requests; `nil` connects directly.
    public var proxy: String? {
        get { proxies.https }
        set { proxies = ProxyRule(http: newValue, https: newValue) }
    }
}
