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
    /// The request to a file server; `nil` for HTTP.
    var files: FileServerTask?

    /// Why a callback told libcurl to stop; wins over libcurl's own code.
    var stopReason: StopReason?
    /// The hop's answer, as far as it has come.
    var answer = IncomingAnswer()
    /// The hop's request, as far as it has left.
    var outgoing = OutgoingRequest()
    /// The connection of the exchange's requests.
    var connection: ConnectionInUse
    var path: PathReader?
    /// Reasons to hold the transfer back, and until when.
    var pace: Pace
    var start: BodyStart?
    var lastHead: ResponseHead?
    /// The beginning of the last error's body, where it's wanted.
    var refusalBody: [UInt8] = []
    var received: Int64 = 0
    let deadline: MonotonicTime?
    /// The longest silence.
    let idleTimeout: Duration
    /// Whether the time until the connection stands counts as silence; else it has a bound of its own.
    private let isSilentWhileConnecting: Bool
    /// Bytes a second below which it counts as silent; `nil` where every byte is a sign of life.
    let leastRate: Int64?
    /// The sum to which its bytes are added.
    let traffic: EngineTraffic
    var hops: [HopMetrics] = []
    /// Brings a body that comes while it's sent.
    let feeder: (any BodyProvider)?
    /// Finds out whether a file's bytes are those that were sent, and lets the body go on then.
    let compareSource: ((SourceFile) -> Void)?

    enum StopReason {
        /// The body isn't wanted; what comes next is settled.
        case bodyUnwanted
        /// A connection that was kept had an answer on it before anything was asked: the request goes over a new one.
        case spokenBefore
        case failed(TransferError)
    }

    init(
        _ start: ExchangeStart, now: MonotonicTime, traffic: EngineTraffic, feeder: (any BodyProvider)?,
        isOfFiles: Bool = false,
        compareSource: ((SourceFile) -> Void)?
    ) {
        order = start
        meter = start.meter
        path = start.meter.path.map(PathReader.init)
        machine = ExchangeMachine(start.request)
        sink = start.makeSink()
        deadline = start.request.settings.maxTime.map { now + $0 }
        pace = Pace(lastActivity: now)
        connection = ConnectionInUse(bound: now)
        let settings = start.request.settings
        idleTimeout = settings.idleTimeout ?? settings.lowSpeedTime
        isSilentWhileConnecting = settings.idleTimeout != nil || isOfFiles
        let hasRate = settings.idleTimeout == nil && !isOfFiles && settings.lowSpeedRate > 1
        leastRate = hasRate ? settings.lowSpeedRate : nil
        self.traffic = traffic
        self.feeder = feeder
        self.compareSource = compareSource
    }

    var id: ExchangeID { order.id }
    var request: ExchangeRequest { order.request }
    var events: @Sendable (ExchangeEvent) -> Void { order.events }
    var limiters: [RateLimiter] { order.limiters }
    /// The only link that it goes over.
    var link: String? { request.settings.link }

    /// A hop begins on a fresh or reset handle.
    func beginHop(_ hop: Hop) {
        self.hop = hop
        stopReason = nil
        answer = IncomingAnswer(isFramed: files != nil)
        connection.beginHop()
        pace.holds.subtract([.sink, .body, .decision, .source])
        noteLife()
        if outgoing.sent > 0 { meter.update(sent: 0) }
        outgoing.beginHop()
        if hop.sendsBody, hop.replacedBody == nil { feeder?.rewind() }
        if let machine = hop.netrcMachine {
            events(.netrcUsed(NetrcUse(machine: machine, url: Redaction.url(hop.url))))
        }
        guard request.settings.collectsHopMetrics else { return }
        let lookUp = connection.lookUpStart.map { (MonotonicTime.now - $0).inSeconds } ?? 0
        connection.lookUpStart = nil
        var metrics = HopMetrics(
            url: hop.url, method: hop.method, start: WallClock.now - lookUp)
        metrics.nameLookup = lookUp
        hops.append(metrics)
    }

    /// The body that the hop sends, where it sends one.
    var body: RequestBody { hop?.replacedBody.map { .bytes($0) } ?? request.body }

    /// The failure for which the transfer was told to stop.
    var stopError: TransferError? {
        if case .failed(let error) = stopReason { return error }
        return nil
    }

    /// Why a body that ended well isn't what it should be: it's shorter than what it should have been compared with.
    var shortfall: TransferError? { answer.phase == .body ? sink.shortfall : nil }

    /// The facts by which the pool watches for silence. libcurl counts what its socket has taken, and not what arrives: a
    /// full send buffer would be silence to it.
    var silence: Silence.Subject {
        let isConnecting = !isSilentWhileConnecting && !outgoing.hasMadeRequest
        return Silence.Subject(
            lastActivity: pace.lastActivity, isHeld: isConnecting || !pace.holds.isEmpty, bound: idleTimeout,
            deadline: deadline)
    }

    /// The bytes that all exchanges have moved since it fell silent; `nil` where it shares no link with them: connections to this
    /// machine, and loops of file servers, which watch for themselves.
    var company: Silence.Company? {
        guard files == nil, let address = ConnectionFacts(handle).remoteAddress, !address.isLoopback else { return nil }
        return Silence.Company(
            moved: traffic.moved - pace.movedBefore, count: traffic.exchanges, lastMoved: traffic.lastMoved)
    }

    /// A byte came or went.
    func noteActivity() { if leastRate == nil { noteLife() } }

    /// The exchange is not silent now.
    func noteLife(at now: MonotonicTime = .now) {
        pace.lastActivity = now
        pace.movedBefore = traffic.moved
    }

    func noteReceived(_ count: Int64) {
        received += count
        meter.update(received: received)
        traffic.moved(count, at: leastRate == nil ? pace.lastActivity : .now)
    }

    func throttle(_ count: Int) {
        guard !limiters.isEmpty else { return }
        for limiter in limiters {
            if let until = limiter.take(count) {
                pace.pausedUntil = max(pace.pausedUntil ?? until, until)
                pace.mustPause = true
            }
        }
    }
}

// Calls of libcurl from outside its callbacks.
extension ActiveExchange {
    /// Tells libcurl what is held back now. Going on may deliver what libcurl kept, at once, and end in another hold.
    func applyHolds() {
        noteLife()
        handle?.pause(pace.holds.mask)
    }

    /// Gives the handshake that waits for a decision its answer, and lets it go on.
    ///
    /// - Parameter refusal: `nil` accepts.
    func settleServer(_ refusal: (any Error)?) {
        guard let handshake = connection.handshake, handshake.isAsked else { return }
        handshake.settle(refusal)
        if let refusal {
            connection.refusal = refusal
            stopReason = .failed(.refusal(refusal, of: handshake.host))
        }
        wakeHandshake()
    }

    /// Makes libcurl go on with a handshake that waits for nothing on its socket.
    func wakeHandshake() {
        guard let handle else { return }
        handle.pause(CURLPAUSE_RECV)
        handle.pause(CURLPAUSE_CONT)
        applyHolds()
    }

    /// Makes libcurl look at everything that its transfer has.
    func lookAtSockets() {
        guard let handle else { return }
        handle.pause(CURLPAUSE_RECV)
        handle.pause(pace.holds.mask)
    }

    /// Whether a reply on a control connection of FTP may be what the transfer waits for: while the TLS of its data
    /// connection comes about.
    var awaitsReply: Bool {
        guard let files, handle != nil, answer.phase == .head, outgoing.sent == 0 else { return false }
        return files.hasSecureData(request.settings.files)
    }
}
