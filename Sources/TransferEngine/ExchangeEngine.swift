import Synchronization
import TransferCore
public import TransferEventLoop

/// An engine that performs exchanges on a few loops: all requests and jobs reach the network through it.
public final class ExchangeEngine: ExchangePerformer {
    private let loops: [PoolSet]
    /// The pools on a loop that belongs to, and is ended by, the caller.
    private let shared: PoolSet?
    private let fileLoops: FileServerLoops
    private let lastID = Atomic<UInt64>(0)
    private let isShutDown = Atomic(false)
    /// The resolver that all exchanges share.
    public let resolver: HostResolver
    /// The workers for blocking work of exchanges: syncing, reserving, reading again.
    public let workers: WorkerPool

    /// The threads for streamed bodies, whose reads may block for long. They are up to 64, so that slow reads delay no
    /// others.
    private let bodyThreads: WorkerPool
    /// The threads for decisions about servers. A slow decision delays only its own connection.
    private let trustThreads: WorkerPool

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - loops: The number of threads that carry transfers, 1 to 64.
    ///   - workers: The number of threads for blocking work, at least 1.
    ///   - shared: A loop of the caller's for single exchanges that never wait for a disk: messages whose bodies are in
    ///     memory and may be joined to their heads. It continues after the engine is shut down.
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

    /// Starts an exchange on the least busy loop.
    ///
    /// - Parameters:
    ///   - limiters: The bounds on the rate that the exchange shares with others.
    ///   - makeSink: A closure that makes the sink on the loop to which the sink then belongs.
    ///   - events: A closure that receives the events on the loop; the last one is exactly one `.ended`.
    @discardableResult
    public func start(
        _ request: ExchangeRequest, meter: ExchangeMeter = ExchangeMeter(), limiters: [RateLimiter] = [],
        makeSink: @escaping @Sendable () -> any BodySink, events: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> ExchangeHandle {
        let request = Self.canonical(request)
        let id = ExchangeID(number: lastID.add(1, ordering: .relaxed).newValue)
        let start = ExchangeStart(
            id: id, request: request, meter: meter, limiters: limiters, makeSink: makeSink, events: events)
        // The caller's loop continues after the engine is shut down.
        guard !isShutDown.load(ordering: .relaxed) else {
            Self.end(start, .shutDown)
            return ExchangeHandle(id: id, carrier: nil)
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
                isPublicOnly: request.settings.route.isPublicOnly, families: request.settings.route.families,
                isBackground: request.settings.isBackground,
                account: isOfFiles ? FileServerAccount(request.settings) : nil)
            pool =
                isOfFiles
                ? try fileLoops.pool(for: key, to: Origin(fileServerURL: request.url))
                : try set(for: request).pool(for: key)
        } catch {
            Self.end(start, error)
            return ExchangeHandle(id: id, carrier: nil)
        }
        if !pool.loop.execute({ pool.onLoop { $0.begin(start) } }) { Self.end(start, .shutDown) }
        return ExchangeHandle(id: id, carrier: pool)
    }

    /// Looks the addresses of a host up.
    ///
    /// - Parameter link: The only link over which name servers are asked; `nil` asks as the system does.
    package func find(
        _ host: String, link: String?, then: @escaping @Sendable (HostResolver.Answer) -> Void
    ) {
        resolver.find(host, link: link, completion: then)
    }

    /// The number of connections that carry an exchange now; over HTTP/2 one may carry several.
    public var connections: Int {
        (loops + (shared.map { [$0] } ?? []) + fileLoops.all).reduce(0) { $0 + $1.connections }
    }

    /// Begins a new network: names are looked up again, and new exchanges get new connections.
    ///
    /// Current exchanges continue on their connections.
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

    /// Ends all current exchanges (each with `cancelled`) and the threads. The engine cannot be used afterwards.
    public func shutDown() {
        // The work is done once: work for a loop that has ended would stay there, and keep the pool alive forever.
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

    /// Returns the request with the spelling of its URL that is sent and compared.
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

/// The data of a new exchange for its pool. The type is a class, because the value is large and passed between threads.
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
