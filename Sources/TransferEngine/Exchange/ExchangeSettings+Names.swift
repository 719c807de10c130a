public import TransferCore

/// The rules of an exchange's parts, each by a name of its own.
extension ExchangeSettings {
    /// ``Timeouts/connect``.
    public var connectTimeout: Duration {
        get { timeouts.connect }
        set { timeouts.connect = newValue }
    }

    /// ``Timeouts/lowSpeedTime``.
    public var lowSpeedTime: Duration {
        get { timeouts.lowSpeedTime }
        set { timeouts.lowSpeedTime = newValue }
    }

    /// ``Timeouts/lowSpeedRate``.
    public var lowSpeedRate: Int64 {
        get { timeouts.lowSpeedRate }
        set { timeouts.lowSpeedRate = newValue }
    }

    /// ``Timeouts/idle``.
    public var idleTimeout: Duration? {
        get { timeouts.idle }
        set { timeouts.idle = newValue }
    }

    /// ``Timeouts/total``.
    public var maxTime: Duration? {
        get { timeouts.total }
        set { timeouts.total = newValue }
    }

    /// ``Redirects/most``.
    public var maxRedirects: Int {
        get { redirects.most }
        set { redirects.most = newValue }
    }

    /// ``Redirects/areFollowed``.
    public var followsRedirects: Bool {
        get { redirects.areFollowed }
        set { redirects.areFollowed = newValue }
    }

    /// ``Redirects/mayTurnRequests``.
    public var turnsRequests: Bool {
        get { redirects.mayTurnRequests }
        set { redirects.mayTurnRequests = newValue }
    }

    /// ``Sending/resendsBody``.
    public var resendsBody: Bool {
        get { sending.resendsBody }
        set { sending.resendsBody = newValue }
    }

    /// ``Sending/joinsSmallBodies``.
    public var joinsSmallBodies: Bool {
        get { sending.joinsSmallBodies }
        set { sending.joinsSmallBodies = newValue }
    }

    /// ``Sending/expectsContinue``.
    public var expectsContinue: Bool {
        get { sending.expectsContinue }
        set { sending.expectsContinue = newValue }
    }

    /// ``Route/proxies``.
    public var proxies: ProxyRule {
        get { route.proxies }
        set { route.proxies = newValue }
    }

    /// ``Route/proxyAuthorities``.
    public var proxyAuthorities: String? {
        get { route.proxyAuthorities }
        set { route.proxyAuthorities = newValue }
    }

    /// ``Route/unixSocket``.
    public var unixSocket: String? {
        get { route.unixSocket }
        set { route.unixSocket = newValue }
    }

    /// ``Route/link``.
    public var link: String? {
        get { route.link }
        set { route.link = newValue }
    }

    /// ``Receiving/openEnd``.
    public var openEnd: OpenEnd {
        get { receiving.openEnd }
        set { receiving.openEnd = newValue }
    }

    /// ``Receiving/keptOfRefusals``.
    public var keptOfRefusals: Int {
        get { receiving.keptOfRefusals }
        set { receiving.keptOfRefusals = newValue }
    }

    /// ``Receiving/receiveBufferSize``.
    public var receiveBufferSize: Int {
        get { receiving.receiveBufferSize }
        set { receiving.receiveBufferSize = newValue }
    }

    /// ``Receiving/decodes``.
    public var decodes: Bool {
        get { receiving.decodes }
        set { receiving.decodes = newValue }
    }

    /// ``Receiving/decodesFiles``.
    public var decodesFiles: Bool {
        get { receiving.decodesFiles }
        set { receiving.decodesFiles = newValue }
    }

    /// ``Receiving/maxDecodedLength``.
    public var maxDecodedLength: Int64? {
        get { receiving.maxDecodedLength }
        set { receiving.maxDecodedLength = newValue }
    }

    /// The URL of one proxy for everything; `nil` goes straight.
    public var proxy: String? {
        get { proxies.https }
        set { proxies = ProxyRule(http: newValue, https: newValue) }
    }
}
