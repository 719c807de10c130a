public import TransferCore

extension ExchangeSettings {
    /// The bounds on the time of an exchange, and on its silence.
    public struct Timeouts: Sendable, Hashable {
        /// The longest time until a connection stands, TLS included.
        public var connect: Duration = .seconds(30)
        /// The time after which a transfer of less than `lowSpeedRate` bytes a second has stalled.
        public var lowSpeedTime: Duration = .seconds(60)
        /// The rate below which a transfer is slow, in bytes a second; at least 1.
        public var lowSpeedRate: Int64 = 1
        /// The longest time without a byte in either direction, in place of the low-speed rule. Its precision is 50 ms.
        ///
        /// The time of a suspended transfer does not count.
        public var idle: Duration?
        /// The longest time of an exchange, redirects included; `nil` sets no bound.
        public var total: Duration?
        /// The requests that end with `networkChanged` where a new connection would make progress and the current one
        /// does not.
        public var lostPaths = LostPaths.kept

        /// The requests that give up their connection after a hole in the network, in which packets vanished.
        ///
        /// The server of such a connection would send again only after a timer that may be as long as the hole was. A
        /// connection that is not answered, while others are, is given up by all requests except those with ``kept``.
        public enum LostPaths: Sendable, Hashable {
            /// No request: the caller has no way to continue.
            case kept
            /// A download that can be continued.
            case leftByDownloads
            /// A download that can be continued, and a request whose sender asks the server for its bytes before
            /// sending more.
            case left
        }

        /// Creates the default bounds.
        public init() {}
    }

    /// The rules for redirects.
    public struct Redirects: Sendable, Hashable {
        /// The most redirects that are followed; more are an error. 0 makes the first one an error.
        public var most = 10
        /// Whether redirects are followed at all. Otherwise such an answer is the final one, which is an error for a
        /// representation.
        public var areFollowed = true
        /// Whether redirects are followed that turn the request into another: 303, and 301 and 302 of POST (RFC 9110
        /// §15.4).
        ///
        /// If they are not followed, such an answer is the final one, where any answer is accepted.
        public var mayTurnRequests = true
        /// The method and the body behind a redirect.
        package var methods = RedirectMethods()

        /// Creates the default rules.
        public init() {}
    }

    /// The rules for sending a request.
    public struct Sending: Sendable, Hashable {
        /// Whether the body of an idempotent request is sent again over a new connection when a reused one turns out to
        /// be dead.
        ///
        /// No answer may have come before (RFC 9110 §9.2.2; a server may have read the first body). Requests that are
        /// not idempotent (POST, PATCH) are never repeated automatically.
        public var resendsBody = true
        /// Whether a body of up to 16 KiB leaves together with the head, in one write. That halves the work for both
        /// ends.
        ///
        /// The progress of such a body is known only with the answer.
        public var joinsSmallBodies = false
        /// The congestion control of connections that send a body.
        public var congestion = CongestionControl.automatic
        /// Whether a long body waits up to a second for the server's 100 (RFC 9110 §10.1.1), so that a refusal costs
        /// nothing.
        ///
        /// A body is long with more than 64 KiB or an unknown length.
        public var expectsContinue = true

        /// Creates the default rules.
        public init() {}
    }

    /// The route to the server.
    public struct Route: Sendable, Hashable {
        /// The proxies. Each hop chooses its own, as a redirect may lead where another proxy applies.
        public var proxies = ProxyRule.none
        /// The PEM file of the only authorities to trust for a proxy's own certificate; `nil` trusts the system's.
        public var proxyAuthorities: String?
        /// The path of a Unix socket that carries all requests. No name is looked up then, and no proxy is used.
        public var unixSocket: String?
        /// The link (`wg0`) that the exchange must use, its name look-ups included; `nil` leaves the choice to the
        /// kernel.
        ///
        /// Without the link the exchange fails: no byte ever takes another route. Connections within this machine
        /// (loopback addresses, Unix sockets) are not bound.
        public var link: String?
        /// Whether HTTP/1.1 is spoken where HTTP/2 could be.
        public var speaksHTTP1Only = false
        /// Whether only servers with public addresses are asked (``/TransferCore/IPAddress/isPublic``), at every hop.
        ///
        /// A proxy's address may be any. The name of a server behind a proxy is looked up on this machine too, and the
        /// proxy is not asked for one with another address.
        public var isPublicOnly = false
        /// The versions of IP that connections use.
        package var families = AddressFamilies.any

        /// Creates a direct route.
        public init() {}
    }

    /// The rules for receiving an answer.
    public struct Receiving: Sendable, Hashable {
        /// The rule for a body that only the end of its connection ends, where a representation is wanted.
        public var openEnd = OpenEnd.taken
        /// The bytes that are kept of an error's body (``ExchangeOutcome/answer``).
        public var keptOfRefusals = 0
        /// The most bytes of one read from the network, 1 KiB to 512 KiB.
        ///
        /// The bytes in memory that a sink is not ready to take grow with it.
        public var receiveBufferSize = 512 << 10
        /// Whether a coded answer is decoded, where its codings are known; only for `.message`.
        public var decodes = false
        /// Whether a coded file is decoded on its way to the sink; only for `.representation`.
        ///
        /// A decoded file cannot be continued, as ranges count in the coded bytes. A file with an unsupported coding
        /// fails.
        public var decodesFiles = false
        /// The most bytes of a decoded answer; more is an error. `nil` sets no bound.
        public var maxDecodedLength: Int64?

        /// Creates the default rules.
        public init() {}
    }
}
