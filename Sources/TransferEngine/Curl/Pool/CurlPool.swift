import CTransferCurl
import CTransferLinux
import Synchronization
import TransferCore
import TransferEventLoop

/// A libcurl multi handle on one loop: its connections, its easy handles, and the exchanges under way.
///
/// A pool belongs to one engine, loop and network generation; handles and connections never leave it. It carries
/// exchanges from hop to hop. Its parts decide when waiting exchanges continue; each has its own state (``PoolHost``).
actor CurlPool: LoopActor {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The number of exchanges that were started and have not ended, by which a pool is chosen.
    nonisolated let load = Atomic<Int>(0)
    /// The number of sockets that libcurl watches: those of connections in use.
    nonisolated let connections = Atomic<Int>(0)
    /// The number of handshakes that were abandoned midway, whose stacks are never freed. There should be none.
    nonisolated let lostHandshakes = Atomic<Int>(0)

    // The multi handle is not shared: only the loop uses it, and deinit closes it when no reference is left.
    nonisolated(unsafe) let multi: CurlMulti
    var active: [ExchangeID: ActiveExchange] = [:]
    var timers = PoolTimers()
    private var isShutDown = false

    // The following properties are shared with other pools.
    let bodyThreads: WorkerPool
    let proxies: KnownProxies
    let traffic: EngineTraffic
    /// The logins that file servers accepted; shared by all pools for those.
    let logins: AcceptedLogins?

    // The following properties belong to the pool's connections.
    /// The sockets of connections to file servers; `nil` in a pool for HTTP.
    nonisolated let sockets: ServerSockets?
    let plainSockets = PlainSockets()
    let uploadSockets = UploadSockets()

    // The following properties are the pool's parts.
    let watched = WatchedSockets()
    let addresses: AddressSearch
    let trust: TrustDecisions
    let rates = RatePauses()
    let silence = SilenceWatch()
    let paths: PathWatch
    let steering: SocketSteering
    let acknowledgements = Acknowledgements()
    let knownHosts = KnownHostsMemory()

    /// Creates a pool.
    ///
    /// - Throws: `TransferError` when libcurl cannot be initialised.
    init(
        loop: EventLoop, resolver: HostResolver, bodyThreads: WorkerPool, trustThreads: WorkerPool,
        proxies: KnownProxies = KnownProxies(), congestion: CongestionMemory = CongestionMemory(),
        small: SmallSegments = SmallSegments(), traffic: EngineTraffic = EngineTraffic(),
        fileServers logins: AcceptedLogins? = nil
    ) throws(TransferError) {
        multi = try CurlMulti()
        self.loop = loop
        self.bodyThreads = bodyThreads
        self.proxies = proxies
        self.traffic = traffic
        self.logins = logins
        sockets = logins == nil ? nil : ServerSockets()
        addresses = AddressSearch(resolver: resolver)
        trust = TrustDecisions(threads: trustThreads)
        steering = SocketSteering(memory: congestion)
        paths = PathWatch(small: small)
        try multi.setCallbacks(
            socket: PoolCallbacks.socket, timer: PoolCallbacks.timer, user: Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // A connection to a file server ends without QUIT, whose answer could take any time.
        sockets?.stopAll(.shutDown)
        // The objects that close sockets still exist here.
        multi.close()
    }

    // MARK: Exchanges

    func begin(_ start: ExchangeStart) {
        let exchange = ActiveExchange(
            start, now: .now, traffic: traffic, feeder: feeder(for: start), isOfFiles: sockets != nil,
            compareSource: sourceComparison(for: start))
        active[start.id] = exchange
        traffic.began()
        sockets?.begin(start.id)
        silence.begin(exchange, on: self)
        paths.begin(on: self)
        rates.begin(exchange)
        guard !isShutDown else { return end(exchange, .failure(.shutDown)) }
        perform(exchange.machine.start(), of: exchange)
    }

    /// Ends all exchanges and closes idle connections.
    func shutDown() {
        isShutDown = true
        for exchange in Array(active.values) { giveUp(exchange, .shutDown) }
        multi.forgetIdleHandles()
        paths.shutDown(on: self)
        timers.removeAll(from: loop)
    }

    func giveUp(_ exchange: ActiveExchange, _ error: TransferError) {
        exchange.machine.abandon()
        exchange.leaveAnswer()
        end(exchange, .failure(error))
    }

    private func end(_ exchange: ActiveExchange, _ result: Result<ResponseHead, TransferError>) {
        guard active.removeValue(forKey: exchange.id) != nil else { return }
        traffic.ended()
        rates.end(exchange.id)
        addresses.abandon(exchange.id)
        let metrics = exchange.handle.map { MetricsReader.read($0, exchange) } ?? ExchangeMetrics()
        exchange.settleMeter()
        exchange.settleSent()
        exchange.settleAcknowledged(result)
        release(exchange)
        exchange.feeder?.close()
        load.subtract(1, ordering: .relaxed)
        sockets?.end(exchange.id)
        let outcome = ExchangeOutcome(of: exchange, result, metrics)
        Failpoint.reached(.exchangeOver)
        exchange.events(.ended(outcome))
    }

    // MARK: Hops

    /// Begins a hop with the addresses that it needs.
    private func perform(_ hop: Hop, of exchange: ActiveExchange) {
        let settings = exchange.request.settings
        guard
            let lookUp = addresses.lookUp(
                hop.url, proxy: settings.way(to: hop.url), isPublicOnly: settings.route.isPublicOnly)
        else {
            let error = TransferError(.badURL, "not an http, https, ftp, ftps or sftp URL: \(Redaction.url(hop.url))")
            return end(exchange, .failure(error))
        }
        if let sockets {
            do throws(TransferError) {
                exchange.files = try FileServerTask(hop, settings, sockets, knownHosts)
            } catch {
                return giveUp(exchange, error)
            }
        }
        if exchange.link != nil, let error = hop.nameError(settings) { return end(exchange, .failure(error)) }
        guard settings.unixSocket == nil else { return transfer(hop, of: exchange, resolved: []) }
        addresses.find(lookUp, for: hop, of: exchange, on: self)
    }

    func transfer(_ hop: Hop, of exchange: ActiveExchange, resolved: [String]) {
        do throws(TransferError) {
            try add(exchange, hop, resolved)
            Failpoint.reached(.requestStarted)
            if !exchange.pace.holds.isEmpty { exchange.applyHolds() }
        } catch {
            exchange.handle = nil
            giveUp(exchange, error)
        }
    }

    /// Gives a hop to libcurl.
    private func add(_ exchange: ActiveExchange, _ hop: Hop, _ resolved: [String]) throws(TransferError) {
        let handle = try multi.takeHandle()
        exchange.beginHop(hop)
        exchange.handle = handle
        exchange.connection.questions = trust.questions
        exchange.connection.sockets = plainSockets
        paths.prepare(exchange, for: hop.url)
        exchange.connection.connectBound = .now + exchange.request.settings.connectTimeout
        let timeLeft = exchange.deadline.map { max(.milliseconds(1), $0 - .now) }
        try CurlOptions(
            exchange: exchange, hop: hop, resolved: resolved, timeLeft: timeLeft,
            proxySchemes: proxies.schemes(for: hop, exchange.request.settings), uploadSockets: uploadSockets
        ).apply(to: handle)
        try multi.add(handle)
        acknowledgements.begin(exchange, on: self)
    }

    func hopEnded(_ exchange: ActiveExchange, _ error: TransferError?) {
        let action = exchange.machine.hopEnded(
            error ?? exchange.shortfall, position: exchange.sink.position, isFramed: exchange.answer.isFramed,
            closure: exchange.answer.closure?.state ?? .unknown)
        switch action {
        case .perform(let hop):
            exchange.connection.wantsNewConnection = false
            release(exchange)
            perform(hop, of: exchange)
        case .succeed(let head): end(exchange, .success(head))
        case .fail(let failure): end(exchange, .failure(failure))
        }
    }

    /// Takes the exchange's handle out of the multi.
    private func release(_ exchange: ActiveExchange) {
        guard let handle = exchange.handle else { return }
        trust.abandon(exchange, on: self)
        // libcurl would send a farewell to a server that may not answer.
        sockets?.shutDown(exchange.id)
        if exchange.connection.handshake?.isOpen == true { lostHandshakes.add(1, ordering: .relaxed) }
        MetricsReader.finishHop(handle, exchange)
        exchange.handle = nil
        multi.remove(handle)
        uploadSockets.release(exchange)
        paths.release(exchange)
    }

    // MARK: Ends of transfers

    /// Handles the end of a transfer in libcurl.
    func finishHop(_ exchange: ActiveExchange, _ code: CURLcode) {
        guard let handle = exchange.handle else { return }
        if let files = exchange.files { return finishStep(exchange, files, handle, code) }
        if exchange.stopReason == nil, let hop = exchange.hop {
            proxies.note(handle, hop, exchange.request.settings)
        }
        let error = CurlFailure.error(of: exchange, handle, code)
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

    /// Handles the end of a file server's step in libcurl.
    private func finishStep(
        _ exchange: ActiveExchange, _ files: FileServerTask, _ handle: CurlHandle, _ code: CURLcode
    ) {
        switch files.ended(exchange, handle, code, logins) {
        case .perform(let step):
            guard let hop = exchange.hop else { return }
            release(exchange)
            files.begin(step)
            transfer(hop, of: exchange, resolved: [])
        case .endHop(let error): hopEnded(exchange, error)
        case .giveUp(let error): giveUp(exchange, error)
        }
    }
}

extension TransferError {
    static let shutDown = TransferError(.cancelled, "the engine was shut down")
}
