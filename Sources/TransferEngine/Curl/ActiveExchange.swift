import CTransferCurl
import TransferCore
import TransferEventLoop

/// An exchange under way on one loop: the state machine, the sink, and the data for libcurl's callbacks.
///
/// Only its loop's thread uses it. libcurl holds an unretained pointer to it while its handle is in the multi.
final class ActiveExchange {
    private let order: ExchangeStart
    let meter: ExchangeMeter
    var machine: ExchangeMachine
    let sink: any BodySink
    var handle: CurlHandle?
    var hop: Hop?
    /// The request to a file server; `nil` for HTTP.
    var files: FileServerTask?

    /// The reason why a callback made libcurl stop; it takes precedence over libcurl's own code.
    var stopReason: StopReason?
    /// The hop's answer, to the extent that it has come.
    var answer = IncomingAnswer()
    /// The hop's request, to the extent that it has left.
    var outgoing = OutgoingRequest()
    /// The connection of the exchange's requests.
    var connection: ConnectionInUse
    var path: PathReader?
    /// The reasons to hold the transfer back, and until when.
    var pace: Pace
    var start: BodyStart?
    var lastHead: ResponseHead?
    /// The beginning of the last error's body, where a caller wants it.
    var refusalBody: [UInt8] = []
    var received: Int64 = 0
    let deadline: MonotonicTime?
    /// The longest permitted silence.
    let idleTimeout: Duration
    /// Whether the time until the connection stands counts as silence; otherwise that time has its own bound.
    private let isSilentWhileConnecting: Bool
    /// The rate in bytes a second below which the exchange counts as silent; `nil` where every byte is a sign of life.
    let leastRate: Int64?
    /// The sum to which the exchange adds its bytes.
    let traffic: EngineTraffic
    var hops: [HopMetrics] = []
    /// The provider of a body that comes while it is sent.
    let feeder: (any BodyProvider)?
    /// The closure that compares a file with the bytes that were sent, and lets the body continue afterwards.
    let compareSource: ((SourceFile) -> Void)?

    enum StopReason {
        /// The body is not wanted; the next step is decided already.
        case bodyUnwanted
        /// A kept connection had unread bytes before a request left: the request goes over a new connection.
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
    /// The only link that the exchange may use.
    var link: String? { request.settings.link }

    /// Begins a hop on a fresh or reset handle.
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

    /// The failure for which the transfer was stopped.
    var stopError: TransferError? {
        if case .failed(let error) = stopReason { return error }
        return nil
    }

    /// The error of a body that ended well and is shorter than the file with which it was compared.
    var shortfall: TransferError? { answer.phase == .body ? sink.shortfall : nil }

    /// The facts by which the pool watches for silence.
    ///
    /// libcurl counts bytes that its socket has taken, not bytes that arrive: it would take a full send buffer for
    /// silence.
    var silence: Silence.Subject {
        let isConnecting = !isSilentWhileConnecting && !outgoing.hasMadeRequest
        return Silence.Subject(
            lastActivity: pace.lastActivity, isHeld: isConnecting || !pace.holds.isEmpty, bound: idleTimeout,
            deadline: deadline)
    }

    /// The bytes that all exchanges have moved since this one fell silent.
    ///
    /// The value is `nil` where the exchange shares no link with them: for connections to this machine, and on loops of
    /// file servers, which watch for themselves.
    var company: Silence.Company? {
        guard files == nil, let address = ConnectionFacts(handle).remoteAddress, !address.isLoopback else { return nil }
        return Silence.Company(
            moved: traffic.moved - pace.movedBefore, count: traffic.exchanges, lastMoved: traffic.lastMoved)
    }

    /// Notes that a byte came or went.
    func noteActivity() { if leastRate == nil { noteLife() } }

    /// Notes that the exchange is not silent now.
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
    /// Passes the current holds to libcurl. A resumed transfer may deliver kept bytes at once, and end in another hold.
    func applyHolds() {
        noteLife()
        handle?.pause(pace.holds.mask)
    }

    /// Gives a waiting handshake its decision, and lets it continue.
    ///
    /// - Parameter refusal: The reason of a refusal; `nil` accepts the server.
    func settleServer(_ refusal: (any Error)?) {
        guard let handshake = connection.handshake, handshake.isAsked else { return }
        handshake.settle(refusal)
        if let refusal {
            connection.refusal = refusal
            stopReason = .failed(.refusal(refusal, of: handshake.host))
        }
        wakeHandshake()
    }

    /// Makes libcurl continue a handshake that waits for nothing on its socket.
    func wakeHandshake() {
        guard let handle else { return }
        handle.pause(CURLPAUSE_RECV)
        handle.pause(CURLPAUSE_CONT)
        applyHolds()
    }

    /// Makes libcurl check all sockets of its transfer.
    func lookAtSockets() {
        guard let handle else { return }
        handle.pause(CURLPAUSE_RECV)
        handle.pause(pace.holds.mask)
    }

    /// Whether a reply on a control connection of FTP may be what the transfer waits for. That is so while TLS begins
    /// on its data connection.
    var awaitsReply: Bool {
        guard let files, handle != nil, answer.phase == .head, outgoing.sent == 0 else { return false }
        return files.hasSecureData(request.settings.files)
    }
}
