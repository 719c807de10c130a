public import TransferCore

extension ExchangeSettings {
    /// How long an exchange may take, and how long nothing may come of it.
    public struct Timeouts: Sendable, Hashable {
        /// TLS included.
        public var connect: Duration = .seconds(30)
        /// A transfer that moves less than `lowSpeedRate` bytes a second for this long has stalled.
        public var lowSpeedTime: Duration = .seconds(60)
        /// Bytes a second; at least 1.
        public var lowSpeedRate: Int64 = 1
        /// The longest time without a byte in either direction, in place of the low-speed rule; a transfer that somebody
        /// holds back isn't measured. 50 ms are the finest that is told apart.
        public var idle: Duration?
        /// The longest an exchange may take, redirects included; `nil` is for ever.
        public var total: Duration?
        /// Whether an exchange ends with `networkChanged` where a new connection would bring it further than its own.
        public var lostPaths = LostPaths.kept

        /// The requests whose connection is given up after a hole in the network, in which packets vanished: its server
        /// would send again only when a timer has come to its end that may be as long as the hole was. A connection that
        /// nobody answers on, while others are answered, is given up with all requests but those that keep it.
        public enum LostPaths: Sendable, Hashable {
            /// None. Its user has no way to continue.
            case kept
            /// A download that can be continued.
            case leftByDownloads
            /// The same, and a request whose sender asks the server what it has before it sends anything again.
            case left
        }

        public init() {}
    }

    /// The redirects that are followed.
    public struct Redirects: Sendable, Hashable {
        /// Redirects followed; more are an error. 0 makes the first one an error.
        public var most = 10
        /// Whether redirects are followed at all; otherwise such an answer is the final one, which is an error where a
        /// representation was asked for.
        public var areFollowed = true
        /// Whether a redirect is followed that turns the request into another: 303, and 301 and 302 of POST (RFC 9110 §15.4).
        /// Otherwise such an answer is the final one, where any answer is.
        public var mayTurnRequests = true

        public init() {}
    }

    /// How a request leaves.
    public struct Sending: Sendable, Hashable {
        /// Whether the body of an idempotent request is sent again, over a new connection, when one that had been used before
        /// turns out to be dead before any answer (RFC 9110 §9.2.2; a server may have read the first body). Requests that
        /// aren't idempotent (POST, PATCH) are never sent again by themselves.
        public var resendsBody = true
        /// Whether a body of up to 16 KiB leaves together with the head, in one write: half the work for both ends. Its
        /// progress is known with the answer only.
        public var joinsSmallBodies = false
        /// The congestion control of connections that send a body.
        public var congestion = CongestionControl.automatic
        /// Whether a long body, of more than 64 KiB or an unknown length, waits up to a second for the server's 100
        /// (RFC 9110 §10.1.1), so that a refusal costs nothing.
        public var expectsContinue = true

        public init() {}
    }

    /// The way to the server.
    public struct Route: Sendable, Hashable {
        /// The ways to go; each hop's own, as a redirect may lead where another one holds.
        public var proxies = ProxyRule.none
        /// A PEM file of the only authorities to trust for a proxy's own certificate; `nil` trusts the system's.
        public var proxyAuthorities: String?
        /// A socket file that everything goes through; no names are looked up then, and no proxy is used.
        public var unixSocket: String?
        /// The link (`wg0`) that everything of the exchange goes over, its name look-ups included; `nil`: the kernel's
        /// choice. Where it isn't there the exchange fails: nothing ever goes another way. What doesn't leave this machine
        /// (loopback addresses, Unix sockets) isn't bound.
        public var link: String?
        /// Whether HTTP/1.1 is spoken where HTTP/2 could be.
        public var speaksHTTP1Only = false
        /// Whether only public addresses are connected to (``/TransferCore/IPAddress/isPublic``), at every hop; a proxy's own
        /// may be any.
        public var isPublicOnly = false

        public init() {}
    }

    /// How an answer is taken.
    public struct Receiving: Sendable, Hashable {
        /// The rule for a body that only the end of its connection ends, where a representation is wanted.
        public var openEnd = OpenEnd.taken
        /// How much of the body of an answer that is an error is kept (``ExchangeOutcome/answer``); bytes.
        public var keptOfRefusals = 0
        /// The most that is read from the network at once; bytes, 1 KiB to 512 KiB. What a sink that isn't ready leaves
        /// in memory grows with it.
        public var receiveBufferSize = 512 << 10
        /// Whether a coded answer is decoded, where its codings are known; only for `.message`.
        public var decodes = false
        /// Whether a coded file is decoded on its way to the sink; only for `.representation`. Such a file can't be continued,
        /// as ranges count in the coded bytes, and one whose coding nobody decodes here fails.
        public var decodesFiles = false
        /// Bytes that a decoded answer may have; more is an error. `nil` for no bound.
        public var maxDecodedLength: Int64?

        public init() {}
    }
}
