import CTransferCurl
import TransferCore
import TransferEventLoop

/// One exchange under way on one loop: the state machine, the sink, and what libcurl's callbacks need.
///
/// Used on its loop's thread only; libcurl holds an unretained pointer to it while its handle is in the multi.
final class ActiveExchange {
    private let order: ExchangeStart
    let meter: ExchangeMeter
    var machine: ExchangeMachine
    let sink: any BodySink
    var handle: CurlHandle?
    var hop: Hop?
    /// What is asked of a file server; `nil` for HTTP.
    var files: FileServerTask?

    /// Why a callback told libcurl to stop; wins over libcurl's own code.
    var stopReason: StopReason?
    /// The block of field lines of the answer that is coming in.
    var block: [UInt8] = []
    var status = 0
    /// Whether the answer's protocol ends bodies by itself: every one but HTTP/1.
    var isFramed = false
    var phase = Phase.head
    var start: BodyStart?
    /// Takes the codings off the body, where it has any that are to be taken off.
    var decoder: ContentDecoder?
    /// Bytes that the decoder has taken of those that libcurl will bring once more, after a hold.
    var decodedAhead = 0
    var lastHead: ResponseHead?
    var received: Int64 = 0
    var sent: Int64 = 0
    /// The body leaves with the head, and libcurl counts what of it has left.
    var isJoined = false
    /// The hop's request has left, or is about to.
    var hasMadeRequest = false
    /// The sockets of the pool's connections without TLS, by which an idle one is looked at before it's used.
    var sockets: PlainSockets?
    /// The peer's acknowledgement when the request was about to leave; `nil` again from the answer's first line on.
    var acknowledged: PlainSockets.Acknowledged?
    /// Sockets that were made for the hop.
    var opened: [curl_socket_t] = []
    /// The connection that is used has to be a new one, as one of those that were kept was found unfit.
    var wantsNewConnection = false
    /// All of the body was with the network when the last head came.
    var isBodyOut = true
    var dropped = 0
    /// The beginning of an error's body, where it's wanted.
    var refusalBody: [UInt8] = []
    var connections = 0
    var proxyLegs = ProxyLegs()
    /// libcurl has all of an answer about which nothing was decided yet.
    var hasEndedUndecided = false
    /// When the transfer may go on, while a rate limit holds it.
    var pausedUntil: MonotonicTime?
    var mustPause = false
    /// Why the transfer doesn't go on right now.
    var holds: Holds = []
    let deadline: MonotonicTime?
    /// When a byte came or went last; kept where somebody asks.
    var lastActivity: MonotonicTime
    /// The longest silence that the pool allows; `nil` where libcurl watches.
    let idleTimeout: Duration?
    var hops: [HopMetrics] = []
    /// When our own resolver was asked for the hop that is to begin.
    var lookUpStart: MonotonicTime?
    /// Makes a streamed body.
    let feeder: BodyFeeder?
    /// Finds out whether a file's bytes are those that were sent, and lets the body go on then.
    let compareSource: ((SourceFile) -> Void)?
    /// They weren't.
    var isSourceOther = false
    /// Of the connection that was made for it last.
    var handshake: Handshake?
    var questions: HandshakeQuestions?
    /// When the connection has to stand.
    var connectBound: MonotonicTime
    /// Why no socket could be bound to the link that it requires: `errno`.
    var linkFault: Int32?
    /// Why there was no socket at all: `errno`, where this process or the machine lacks descriptors or memory.
    var socketFault: Int32 = 0
    /// Why its server was refused by somebody.
    var refusal: (any Error)?

    enum StopReason {
        /// The body isn't wanted; what comes next is settled.
        case bodyUnwanted
        /// A connection that was kept had an answer on it before anything was asked: the request goes over a new one.
        case spokenBefore
        case failed(TransferError)
    }

    enum Phase { case head, deciding, body, dropping, trailers }

    /// Reasons to hold a transfer back; it goes on when none is left.
    struct Holds: OptionSet {
        let rawValue: Int32
        /// Somebody suspended it.
        static let user = Holds(rawValue: 1)
        static let rate = Holds(rawValue: 2)
        /// The sink takes no more for now. Only reading stops.
        static let sink = Holds(rawValue: 4)
        /// The next piece of the request's body isn't there yet. Only sending stops.
        static let body = Holds(rawValue: 8)
        /// It isn't known yet what becomes of the answer. Only reading stops.
        static let decision = Holds(rawValue: 16)
        /// What was sent is compared with the file. Reading stops as well: libcurl then doesn't take it for a stall.
        static let source = Holds(rawValue: 32)

        /// For `curl_easy_pause`.
        var mask: Int32 {
            (isDisjoint(with: [.user, .rate, .sink, .decision, .source]) ? 0 : CURLPAUSE_RECV)
                | (isDisjoint(with: [.user, .rate, .body, .source]) ? 0 : CURLPAUSE_SEND)
        }
    }

    init(
        _ start: ExchangeStart, now: MonotonicTime, feeder: BodyFeeder?, isOfFiles: Bool = false,
        compareSource: ((SourceFile) -> Void)?
    ) {
        order = start
        meter = start.meter
        machine = ExchangeMachine(start.request)
        sink = start.makeSink()
        deadline = start.request.settings.maxTime.map { now + $0 }
        lastActivity = now
        connectBound = now
        idleTimeout = start.request.settings.idleTimeout ?? (isOfFiles ? start.request.settings.lowSpeedTime : nil)
        self.feeder = feeder
        self.compareSource = compareSource
    }

    var id: ExchangeID { order.id }
    var request: ExchangeRequest { order.request }
    var events: @Sendable (ExchangeEvent) -> Void { order.events }
    var limiters: [RateLimiter] { order.limiters }

    /// A hop begins on a fresh or reset handle.
    func beginHop(_ hop: Hop) {
        self.hop = hop
        stopReason = nil
        linkFault = nil
        socketFault = 0
        phase = .head
        status = 0
        isFramed = files != nil
        hasMadeRequest = false
        opened.removeAll(keepingCapacity: true)
        isBodyOut = true
        block.removeAll(keepingCapacity: true)
        dropped = 0
        holds.subtract([.sink, .body, .decision, .source])
        hasEndedUndecided = false
        decoder = nil
        decodedAhead = 0
        noteActivity()
        if sent > 0 {
            sent = 0
            meter.update(sent: 0)
        }
        if hop.sendsBody, hop.replacedBody == nil { feeder?.rewind() }
        if let machine = hop.netrcMachine {
            events(.netrcUsed(NetrcUse(machine: machine, url: Redaction.url(hop.url))))
        }
        guard request.settings.collectsHopMetrics else { return }
        let lookUp = lookUpStart.map { (MonotonicTime.now - $0).inSeconds } ?? 0
        lookUpStart = nil
        var metrics = HopMetrics(
            url: hop.url, method: hop.method, start: WallClock.now - lookUp)
        metrics.nameLookup = lookUp
        hops.append(metrics)
    }

    /// What the hop sends, where it sends a body.
    var body: RequestBody { hop?.replacedBody.map { .bytes($0) } ?? request.body }

    /// The failure for which the transfer was told to stop.
    var stopError: TransferError? {
        if case .failed(let error) = stopReason { return error }
        return nil
    }

    /// Why a body that ended well isn't what it should be: it's shorter than what it should have been compared with.
    var shortfall: TransferError? { phase == .body ? sink.shortfall : nil }

    func noteActivity() { if idleTimeout != nil { lastActivity = .now } }

    func throttle(_ count: Int) {
        guard !limiters.isEmpty else { return }
        for limiter in limiters {
            if let until = limiter.take(count) {
                pausedUntil = max(pausedUntil ?? until, until)
                mustPause = true
            }
        }
    }
}
