import CTransferCurl
import CTransferFailpoint
import Synchronization
import TransferCore
import TransferEventLoop

/// One libcurl multi handle on one loop: its connections, its easy handles, and the exchanges under way.
///
/// A pool belongs to one engine, loop and network generation; handles and connections never leave it.
actor CurlPool: LoopActor {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// Exchanges handed in and not ended: how busy the pool is, for the one who chooses.
    nonisolated let load = Atomic<Int>(0)

    /// Of the connections to file servers, where the pool is for those.
    nonisolated let sockets: ServerSockets?
    /// Who was let in by file servers; all pools' for those.
    let logins: AcceptedLogins?
    let resolver: HostResolver
    // Used on the loop; freed in deinit, when nobody else is left.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer
    var active: [ExchangeID: ActiveExchange] = [:]
    private var idle: [CurlHandle] = []
    var timers = PoolTimers()
    /// Keeps TLS sessions where each transfer has a new handle (``CurlLibrary/reusesHandles``); `nil` elsewhere.
    private let sessions: TLSSessionShare?
    var given = GivenAddresses()
    /// Sockets that libcurl doesn't want to hear of any more.
    var unwatched: Set<curl_socket_t> = []
    var lookUpCache = LookUpCache()
    /// Exchanges whose host's address is being asked for, and until when.
    var lookUps: [ExchangeID: (until: MonotonicTime, ticket: HostResolver.Ticket)] = [:]
    var paused: [ExchangeID: MonotonicTime] = [:]
    /// When exchanges are looked at that may have been silent for too long.
    var nextIdleCheck: MonotonicTime?
    let bodyThreads: WorkerPool
    /// For those who judge servers, and may take long.
    let trustThreads: WorkerPool
    let questions = HandshakeQuestions()
    /// Exchanges whose server is being judged, and until when.
    var verdicts: [ExchangeID: MonotonicTime] = [:]
    /// Sockets with replies that libcurl had no use for when it was offered them.
    var unreadReplies: Set<curl_socket_t> = []
    /// Handshakes that ended where they stood, whose stacks nobody frees: there should be none.
    nonisolated let lostHandshakes = Atomic<Int>(0)
    let proxies: KnownProxies
    private(set) var isShutDown = false
    let plainSockets = PlainSockets()
    let uploadSockets = UploadSockets()
    /// Whether any exchange has had a bound on its rate: without, nobody needs to be looked at.
    var hasLimits = false

    /// - Throws: `TransferError` when libcurl can't be initialised.
    init(
        loop: EventLoop, resolver: HostResolver, bodyThreads: WorkerPool, trustThreads: WorkerPool,
        proxies: KnownProxies = KnownProxies(), fileServers logins: AcceptedLogins? = nil
    ) throws(TransferError) {
        guard CurlLibrary.isReady else { throw TransferError(.internalFault, "libcurl can't be initialised") }
        sessions = CurlLibrary.reusesHandles ? nil : try TLSSessionShare()
        guard let multi = curl_multi_init() else { throw TransferError(.internalFault, "libcurl can't be initialised") }
        self.loop = loop
        self.resolver = resolver
        self.bodyThreads = bodyThreads
        self.trustThreads = trustThreads
        self.multi = multi
        self.proxies = proxies
        self.logins = logins
        sockets = logins == nil ? nil : ServerSockets()
        let user = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            transfer_multi_set_socket(multi, PoolCallbacks.socket, user),
            transfer_multi_set_timer(multi, PoolCallbacks.timer, user),
            // Kept ones have descriptors that others may need more.
            transfer_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(4, min(256, OpenFiles.limit / 4))),
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else {
            curl_multi_cleanup(multi)
            throw TransferError(.internalFault, "libcurl refused its callbacks")
        }
    }

    deinit {
        // Cleaning up closes connections, and nobody is left to be told of that.
        _ = transfer_multi_set_socket(multi, nil, nil)
        _ = transfer_multi_set_timer(multi, nil, nil)
        // Nobody waits for a farewell.
        sockets?.stopAll(.shutDown)
        curl_multi_cleanup(multi)
    }

    // MARK: Commands

    func begin(_ start: ExchangeStart) {
        let exchange = ActiveExchange(
            start, now: .now, feeder: feeder(for: start), isOfFiles: sockets != nil,
            compareSource: sourceComparison(for: start))
        active[start.id] = exchange
        sockets?.begin(start.id)
        scheduleIdleCheck(exchange)
        if !start.limiters.isEmpty { hasLimits = true }
        guard !isShutDown else { return end(exchange, .failure(.shutDown)) }
        perform(exchange.machine.start(), of: exchange)
    }

    /// Ends everything under way and closes what is idle.
    func shutDown() {
        isShutDown = true
        for exchange in Array(active.values) {
            exchange.machine.abandon()
            end(exchange, .failure(.shutDown))
        }
        idle.removeAll()
        for timer in timers.all { loop.remove(timer) }
        timers = PoolTimers()
    }

    // MARK: Hops

    func transfer(_ hop: Hop, of exchange: ActiveExchange, resolved: [String]) {
        do throws(TransferError) {
            try add(exchange, hop, resolved)
            Failpoint.reached(.requestStarted)
            if !exchange.pace.holds.isEmpty { hold(exchange) }
        } catch {
            exchange.handle = nil
            exchange.machine.abandon()
            end(exchange, .failure(error))
        }
    }

    /// Gives libcurl a hop to do.
    private func add(_ exchange: ActiveExchange, _ hop: Hop, _ resolved: [String]) throws(TransferError) {
        let handle: CurlHandle
        if let spare = idle.popLast() { handle = spare } else { handle = try CurlHandle(sessions: sessions) }
        exchange.beginHop(hop)
        exchange.handle = handle
        exchange.connection.questions = questions
        exchange.connection.sockets = plainSockets
        exchange.connection.connectBound = .now + exchange.request.settings.connectTimeout
        let timeLeft = exchange.deadline.map { max(.milliseconds(1), $0 - .now) }
        try CurlOptions(
            exchange: exchange, hop: hop, resolved: resolved, timeLeft: timeLeft,
            proxySchemes: proxySchemes(exchange, hop), uploadSockets: uploadSockets
        ).apply(to: handle)
        let code = curl_multi_add_handle(multi, handle.raw)
        guard code == CURLM_OK else {
            throw TransferError(
                .internalFault, "libcurl took no handle: \(String(cString: curl_multi_strerror(code)))")
        }
    }

    func hopEnded(_ exchange: ActiveExchange, _ error: TransferError?) {
        let action = exchange.machine.hopEnded(
            error ?? exchange.shortfall, position: exchange.sink.position, isFramed: exchange.answer.isFramed)
        switch action {
        case .perform(let hop):
            exchange.connection.wantsNewConnection = false
            release(exchange)
            perform(hop, of: exchange)
        case .succeed(let head): end(exchange, .success(head))
        case .fail(let failure): end(exchange, .failure(failure))
        }
    }

    func end(_ exchange: ActiveExchange, _ result: Result<ResponseHead, TransferError>) {
        guard active.removeValue(forKey: exchange.id) != nil else { return }
        paused[exchange.id] = nil
        if let wait = lookUps.removeValue(forKey: exchange.id) { resolver.abandon(wait.ticket) }
        let metrics = exchange.handle.map { MetricsReader.read($0, exchange) } ?? ExchangeMetrics()
        exchange.settleMeter()
        exchange.settleSent()
        release(exchange)
        exchange.feeder?.close()
        load.subtract(1, ordering: .relaxed)
        sockets?.end(exchange.id)
        let file = exchange.sink as? FileSink
        var outcome = ExchangeOutcome(
            result: result, head: exchange.lastHead, start: exchange.start,
            finalURL: exchange.hop?.url ?? exchange.request.url,
            position: exchange.sink.position,
            received: exchange.received, sent: exchange.outgoing.sent, metrics: metrics)
        outcome.answers = exchange.answerScope
        outcome.bodyLeft = exchange.outgoing.sent > 0 || exchange.emptyBodyLeft
        outcome.fragment = exchange.hop?.fragment ?? exchange.request.fragment
        switch result {
        case .success: outcome.digest = file?.finishDigest()
        case .failure: outcome.resumeData = file?.resumeData()
        }
        outcome.doubtfulClaim = exchange.machine.resumption.claim ?? file?.doubtfulClaim
        outcome.isUntouched = file?.isUntouched ?? true
        outcome.isLengthUnproven = exchange.machine.isLengthUnproven
        outcome.refusal = exchange.connection.refusal
        outcome.hops = exchange.hops
        outcome.answer = (exchange.sink as? AnswerSink)?.bytes ?? exchange.refusalBody
        Failpoint.reached(.exchangeOver)
        exchange.events(.ended(outcome))
    }

    /// Takes the exchange's handle out of the multi, and keeps it for another where libcurl allows that.
    func release(_ exchange: ActiveExchange) {
        guard let handle = exchange.handle else { return }
        abandonHandshake(exchange)
        // libcurl would take leave of a server that may not answer.
        sockets?.shutDown(exchange.id)
        if exchange.connection.handshake?.isOpen == true { lostHandshakes.add(1, ordering: .relaxed) }
        MetricsReader.finishHop(handle, exchange)
        exchange.handle = nil
        curl_multi_remove_handle(multi, handle.raw)
        uploadSockets.release(exchange)
        guard CurlLibrary.reusesHandles, idle.count < 256 else { return }
        handle.retire()
        idle.append(handle)
    }

    // MARK: libcurl

    fileprivate func watch(_ socket: curl_socket_t, _ what: Int32) {
        switch what {
        // It's likely to be watched again for the next request: until something happens on it, it stays registered.
        case CURL_POLL_REMOVE: unwatched.insert(socket)
        case CURL_POLL_IN, CURL_POLL_OUT, CURL_POLL_INOUT:
            var events: ReadyEvents = []
            if what & CURL_POLL_IN != 0 { events.insert(.readable) }
            if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
            unwatched.remove(socket)
            loop.register(socket, for: events) { [weak self] ready in
                self?.onLoop { $0.socketReady(socket, ready) }
            }
        default: break
        }
    }

    fileprivate func schedule(_ milliseconds: Int) {
        let timer = timers.curl ?? loop.makeTimer { [weak self] in self?.onLoop { $0.curlTimerFired() } }
        timers.curl = timer
        if milliseconds < 0 { timer.cancel() } else { timer.schedule(at: .now + .milliseconds(milliseconds)) }
    }

    private func socketReady(_ socket: curl_socket_t, _ ready: ReadyEvents) {
        if unwatched.contains(socket) {
            if wantsReply(socket) { return fetchReply(socket) }
            unwatched.remove(socket)
            return loop.unregister(socket)
        }
        var mask: Int32 = 0
        if ready.contains(.readable) { mask |= CURL_CSELECT_IN }
        if ready.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if ready.contains(.failed) { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, mask, &running)
        drain()
    }

    private func curlTimerFired() {
        runTimeouts()
        drain()
    }

    /// Lets libcurl do what it wanted to do by now.
    func runTimeouts() {
        var running: Int32 = 0
        // CURL_SOCKET_TIMEOUT
        curl_multi_socket_action(multi, -1, 0, &running)
    }

    /// Takes the messages of what has ended, and holds back what runs too fast.
    func drain() {
        judgeServers()
        var code = CURLE_OK
        while let raw = transfer_multi_next_done(multi, &code) {
            var user: UnsafeMutableRawPointer?
            transfer_easy_get_pointer(raw, CURLINFO_PRIVATE, &user)
            guard let user else { continue }
            let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
            finishHop(exchange, code)
        }
        holdBack()
    }

    private func finishHop(_ exchange: ActiveExchange, _ code: CURLcode) {
        guard let handle = exchange.handle else { return }
        if let files = exchange.files { return stepEnded(exchange, files, handle, code) }
        let error = error(of: exchange, handle, code)
        if case .spokenBefore = exchange.stopReason, let hop = exchange.hop {
            exchange.connection.wantsNewConnection = true
            release(exchange)
            return perform(hop, of: exchange)
        }
        if exchange.answer.phase == .deciding, error == nil {
            exchange.answer.hasEndedUndecided = true
            return
        }
        exchange.connection.connections += handle.long(CURLINFO_NUM_CONNECTS)
        hopEnded(exchange, error)
    }
}

/// Called by libcurl on the loop's thread, from within a call of the pool.
private enum PoolCallbacks {
    static let socket: transfer_socket_callback = { easy, socket, what, user, _ in
        guard let user else { return 0 }
        let pool = Unmanaged<CurlPool>.fromOpaque(user).takeUnretainedValue()
        nonisolated(unsafe) let easy = easy  // Of this thread's own loop.
        pool.onLoop {
            $0.noteOwner(easy, socket, what)
            $0.watch(socket, what)
        }
        return 0
    }

    static let timer: transfer_timer_callback = { _, milliseconds, user in
        guard let user else { return 0 }
        let pool = Unmanaged<CurlPool>.fromOpaque(user).takeUnretainedValue()
        pool.onLoop { $0.schedule(milliseconds) }
        return 0
    }
}

extension TransferError {
    static let shutDown = TransferError(.cancelled, "the engine was shut down")
}
