import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import TransferEventLoop
import TransferQueue

/// The parts of a service, assembled.
struct ServerParts: Sendable {
    let reader: EventReader
    let webSockets: WebSocketUpgrade
    let running: RunningLimits
    let connections: ConnectionRegister
    private let rights: RightsCheck
    private let access: AccessRules
    private let logger: Logger
    private let faults: FaultLog
    private let status: StatusRoutes
    private let jobs: JobRoutes
    private let batches: BatchRoutes
    private let steer: SteerRoutes
    private let limits: LimitRoutes
    private let events: EventRoutes
    private let aria: AriaRoutes
    private let metrics: MetricRoutes
    private let cleared: ClearedEnds
    private let view: AriaView

    init(_ served: ServedQueue, _ configuration: ServerConfiguration) {
        access = configuration.access
        logger = configuration.logger
        faults = FaultLog(logger: logger)
        connections = ConnectionRegister(most: configuration.limits.connections)
        let wrongSecrets = WrongSecrets(logger: configuration.logger)
        rights = RightsCheck(wrongSecrets: wrongSecrets, connections: connections)
        let live = LiveJobs()
        let feed = EventFeed(configuration.limits)
        let submissions = SubmissionService(served, configuration)
        running = RunningLimits(served.queue, configuration.running)
        status = StatusRoutes(served: served, live: live)
        let log = AttemptLog()
        let (folder, queue) = (configuration.stateFolder, configuration.queueAddress)
        cleared = ClearedEnds(folder: folder, queue: queue)
        view = AriaView(folder: folder, queue: queue)
        jobs = JobRoutes(served: served, live: live, log: log, submissions: submissions, cleared: cleared)
        batches = BatchRoutes(served: served, submissions: submissions)
        steer = SteerRoutes(
            steering: SteeringService(served: served), order: TurnOrder(served: served, live: live), cleared: cleared)
        limits = LimitRoutes(limits: running)
        events = EventRoutes(served: served, feed: feed)
        let news = AriaNotifications()
        let downloads = AriaDownloads(
            served: served, live: live, view: view, news: news)
        let calls = AriaProtocol(
            access: access, wrongSecrets: wrongSecrets,
            calls: AriaCalls(
                downloads: downloads, adding: AriaAdding(submissions: submissions, downloads: downloads),
                options: AriaOptions(served: served, limits: running), order: AriaOrder(served: served),
                uris: AriaURIs(submissions: submissions), shutdown: configuration.shutdown),
            faults: faults)
        aria = AriaRoutes(calls: calls, limits: configuration.limits, connections: connections)
        let socket = AriaSocket(
            calls: calls, news: news, isOpen: configuration.access.isOpen, connections: connections,
            limits: configuration.limits)
        webSockets = WebSocketUpgrade(access: access, path: "/jsonrpc") { try await socket.talk($0) }
        metrics = MetricRoutes(
            metrics: ServerMetrics(feed), history: RateHistory(), rights: rights)
        metrics.metrics.listen(to: served.queue)
        reader = EventReader(
            served: served, feed: feed, live: live, attempts: log, news: news, history: metrics.history)
    }

    /// Forgets what clients have purged from a queue that was at this place before.
    func forgetForeignMarks(_ served: ServedQueue) async {
        let marks = [view.current.purged, cleared.mark]
        // A queue that cannot be read now reports that elsewhere; the next service asks again.
        guard let last = try? await served.look({ try $0.lastCursor() }) else { return }
        if marks[0] > last { view.reset() }
        if marks[1] > last { cleared.reset() }
    }

    private func router() -> Router<ServerContext> {
        let router = Router(context: ServerContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: AccessMiddleware(
                access: access, metrics: metrics.metrics, faults: faults, connections: connections, logger: logger))
        router.get("healthz") { [status] _, _ in await status.health() }
        aria.add(to: router)
        PageRoute().add(to: router)
        DescriptionRoute().add(to: router)
        let api = router.group("api/v1").add(middleware: rights)
        status.add(to: api)
        jobs.add(to: api)
        batches.add(to: api)
        steer.add(to: api)
        limits.add(to: api)
        events.add(to: api)
        metrics.add(to: router, api)
        OtherMethods.add(to: router)
        return router
    }

    /// Returns the function that answers one request.
    func responder() -> ServerChannel.Responder {
        let responder = router().buildResponder()
        let logger = logger
        return { request, writer, channel in
            let context = ServerContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch {
                response = Problem(error).response
            }
            response.headers[.date] = HTTPDate.format(WallClock.seconds)
            try await writer.write(response: response.head, body: response.body)
        }
    }
}
