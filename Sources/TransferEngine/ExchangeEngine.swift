import Synchronization
public import TransferCore
public import TransferEventLoop

/// Performs exchanges on a few loops: the one way through which requests and jobs reach the network.
public final class ExchangeEngine: Sendable {
    private let loops: [PoolSet]
    /// On somebody else's loop, who ends it.
    private let shared: PoolSet?
    private let fileLoops: FileServerLoops
    private let lastID = Atomic<UInt64>(0)
    private let isShutDown = Atomic(false)
    public let resolver: HostResolver
    /// For what may block on behalf of exchanges: syncing, reserving, reading again.
    public let workers: WorkerPool

    /// For streamed bodies, whose reads may block for long: up to 64 at a time, so that they keep nobody else waiting.
    private let bodyThreads: WorkerPool
    /// For those who judge servers: a slow one keeps its own connection waiting and no other.
    private let trustThreads: WorkerPool

    /// - Parameters:
    ///   - loops: Threads that carry transfers, 1 to 64.
    ///   - workers: Threads for blocking work, at least 1.
    ///   - shared: A loop of the caller's for exchanges that no disk can hold up and that come alone: messages whose
    ///     bodies are in memory and may be joined to their heads. It goes on when the engine is shut down.
    /// - Throws: `TransferError` when the system has no threads or descriptors left.
    public init(loops: Int, workers: Int = 4, sharing shared: EventLoop? = nil) throws {
        let resolver = HostResolver()
        self.resolver = resolver
        self.workers = WorkerPool(name: "worker", threads: workers)
        let bodyThreads = WorkerPool(name: "body", threads: 64)
        self.bodyThreads = bodyThreads
        let trustThreads = WorkerPool(name: "trust", threads: 64)
        self.trustThreads = trustThreads
        let (logins, proxies) = (AcceptedLogins(), KnownProxies())
        let (congestion, small, traffic) = (CongestionMemory(), SmallSegments(), EngineTraffic())
        fileLoops = FileServerLoops { name in
            let loop = try EventLoop(name: name)
            return PoolSet(loop: loop) { () throws(TransferError) in
                try CurlPool(
                    loop: loop, resolver: resolver, bodyThreads: bodyThreads, trustThreads: trustThreads,
                    proxies: proxies, congestion: congestion, small: small, traffic: traffic,
                    fileServers: logins)
            }
        }
        let pools = { (loop: EventLoop) in
            PoolSet(loop: loop) { () throws(TransferError) in
                try CurlPool(
                    loop: loop, resolver: resolver, bodyThreads: bodyThreads, trustThreads: trustThreads,
                    proxies: proxies, congestion: congestion, small: small, traffic: traffic)
            }
        }
        self.shared = shared.map(pools)
        self.loops = try (0..<min(64, max(1, loops))).map { index in
            pools(try EventLoop(name: "transfer-\(index)"))
        }
    }

    /// Starts an exchange on the loop that has the least to do.
    ///
    /// - Parameters:
    ///   - limiters: Bounds on the rate that it shares with others.
    ///   - makeSink: Called on the loop, which the sink then belongs to.
    ///   - events: Called on the loop; ends with exactly one `.ended`.
    @discardableResult
    public func start(
        _ request: ExchangeRequest, meter: ExchangeMeter = ExchangeMeter(), limiters: [RateLimiter] = [],
        makeSink: @escaping @Sendable () -> any BodySink, events: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> ExchangeHandle {
        let request = Self.canonical(request)
        let id = ExchangeID(number: lastID.add(1, ordering: .relaxed).newValue)
        let start = ExchangeStart(
            id: id, request: request, meter: meter, limiters: limiters, makeSink: makeSink, events: events)
        // A loop that is somebody else's goes on.
        guard !isShutDown.load(ordering: .relaxed) else {
            Self.end(start, .shutDown)
            return ExchangeHandle(id: id, pool: nil)
        }
        let pool: CurlPool
        do throws(TransferError) {
            if let fault = URLSpelling.fault(of: request.url) {
                throw TransferError(
                    .badURL,
                    "the host of \(Redaction.url(request.url)) is no name: \(fault); write it as its owner does")
            }
            let isOfFiles = FileServerURL.isMeant(by: request.url)
            let key = PoolKey(
                rules: request.settings.tls, link: request.settings.link,
                speaksHTTP1Only: request.settings.route.speaksHTTP1Only,
                isPublicOnly: request.settings.route.isPublicOnly,
                isBackground: request.settings.isBackground,
                account: isOfFiles ? FileServerAccount(request.settings) : nil)
            pool =
                isOfFiles
                ? try fileLoops.pool(for: key, to: Origin(fileServerURL: request.url))
                : try set(for: request).pool(for: key)
        } catch {
            Self.end(start, error)
            return ExchangeHandle(id: id, pool: nil)
        }
        if !pool.loop.execute({ pool.onLoop { $0.begin(start) } }) { Self.end(start, .shutDown) }
        return ExchangeHandle(id: id, pool: pool)
    }

    /// Connections that carry an exchange at the moment, over HTTP/2 several of them.
    public var connections: Int {
        (loops + (shared.map { [$0] } ?? []) + fileLoops.all).reduce(0) { $0 + $1.connections }
    }

    /// The network is another one: names are asked for anew, and what starts from now on gets connections of its own.
    /// What is under way goes on where it is.
    public func renewNetwork() {
        resolver.flush()
        for set in loops { set.renew() }
        shared?.renew()
        fileLoops.renew()
    }

    /// Ends an exchange that never began.
    private static func end(_ start: ExchangeStart, _ error: TransferError) {
        start.events(
            .ended(
                ExchangeOutcome(
                    result: .failure(error), head: nil, start: nil, finalURL: start.request.url, position: 0,
                    received: 0,
                    sent: 0, metrics: ExchangeMetrics())))
    }

    deinit { shutDown() }

    /// Ends what is under way (each with `cancelled`) and the threads. The engine can't be used afterwards.
    public func shutDown() {
        // Once: work handed to a loop that has ended would stay there, and keep the pool alive, for ever.
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
        for set in loops + fileLoops.shutDown() {
            set.loop.execute {
                set.shutDown()
                set.loop.stop()
            }
        }
        if let shared { shared.loop.execute { shared.shutDown() } }
        workers.stop()
        bodyThreads.stop()
        trustThreads.stop()
    }

    /// With the URL as it is sent, and compared everywhere.
    private static func canonical(_ request: ExchangeRequest) -> ExchangeRequest {
        guard let url = try? URLSpelling.canonical(request.url), url != request.url else { return request }
        var request = request
        request.url = url
        return request
    }

    private func set(for request: ExchangeRequest) -> PoolSet {
        guard let shared, case .message = request.intent, request.settings.joinsSmallBodies, request.body.isInMemory
        else { return leastLoaded }
        return shared
    }

    private var leastLoaded: PoolSet {
        guard loops.count > 1 else { return loops[0] }
        var (best, least) = (loops[0], Int.max)
        for set in loops {
            let load = set.load
            if load < least { (best, least) = (set, load) }
        }
        return best
    }
}

/// Tells the exchanges of one engine apart.
public struct ExchangeID: Sendable, Hashable {
    let number: UInt64
}

/// The start of an exchange: all that a pool needs for it. A class, as it's handed from thread to thread and is large.
final class ExchangeStart: Sendable {
    let id: ExchangeID
    let request: ExchangeRequest
    let meter: ExchangeMeter
    let limiters: [RateLimiter]
    let makeSink: @Sendable () -> any BodySink
    let events: @Sendable (ExchangeEvent) -> Void

    init(
        id: ExchangeID, request: ExchangeRequest, meter: ExchangeMeter, limiters: [RateLimiter],
        makeSink: @escaping @Sendable () -> any BodySink, events: @escaping @Sendable (ExchangeEvent) -> Void
    ) {
        self.id = id
        self.request = request
        self.meter = meter
        self.limiters = limiters
        self.makeSink = makeSink
        self.events = events
    }
}

/// Commands to an exchange under way; without effect once it has ended.
public struct ExchangeHandle: Sendable {
    public let id: ExchangeID
    private let pool: CurlPool?

    /// - Parameter pool: `nil` for an exchange that never began.
    init(id: ExchangeID, pool: CurlPool?) {
        self.id = id
        self.pool = pool
    }

    /// Seconds for which the thread that carries it has been at work so far, for all that it carries.
    public var workedTime: Double { pool?.loop.processorTime ?? 0 }

    /// Ends the exchange with `error`; what it has written stays and can be continued.
    public func cancel(_ error: TransferError = TransferError(.cancelled, "cancelled")) {
        pool?.sockets?.stop(id, error)
        tell { [id] in $0.cancel(id, error) }
    }

    /// Stops reading and sending; the connection stays.
    public func suspend() { tell { [id] in $0.setSuspended(id, true) } }

    /// The sink may be ready again: what was held back for it goes on.
    public func proceed() { tell { [id] in $0.proceed(id) } }

    /// A bound on its rate has changed (``RateLimiter/setRate(_:now:)``): its pause under the old one ends.
    public func rateChanged() { tell { [id] in $0.endRatePause(id) } }

    /// Answers ``ExchangeEvent/redirected(_:)``, once; later answers have no effect.
    public func decide(_ decision: RedirectDecision) {
        tell { [id] in $0.decide(id, decision) }
    }

    public func resume() { tell { [id] in $0.setSuspended(id, false) } }

    /// Ends the exchange with `error` if `isMeant` says so of its connection; what it has written stays and can be
    /// continued. `isMeant` is called on the exchange's loop.
    public func interrupt(_ error: TransferError, where isMeant: @escaping @Sendable (ConnectionFacts) -> Bool) {
        tell { [id] in $0.interrupt(id, error, isMeant) }
    }

    private func tell(_ command: @escaping @Sendable (isolated CurlPool) -> Void) {
        guard let pool else { return }
        pool.loop.execute { pool.onLoop { command($0) } }
    }
}
