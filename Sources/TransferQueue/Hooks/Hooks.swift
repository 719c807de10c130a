import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore
import TransferUpload

/// The part of the runner that hooks need.
protocol HookHost: PartHost {
    var hooks: Hooks { get }
    var credentials: CredentialProviders { get }
    /// Returns whether the batch's folder is watched here, so that its messages are never given up.
    func isWatched(_ batch: Int64) -> Bool
}

/// The delivery of messages about ends (`onFinish`), each at least once, as ``HookQueue`` decides.
///
/// A message is in the store from the moment of the end until its delivery.
final class Hooks {
    private var turns = HookQueue()
    private var settings: HookSettings
    private var webhooks: WebhookRules
    private let engine: any ExchangePerformer
    private let builder: RequestBuilder
    private let accept: JobJudge
    /// The threads for commands, which block.
    private let workers = WorkerPool(name: "hooks", threads: HookQueue.atOnce)
    /// The functions that end deliveries under way.
    private var stops: [Int64: () -> Void] = [:]

    /// The longest time that a webhook may take to answer, unless the job sets another.
    private static let webhookLimit = Duration.seconds(30)

    /// Creates the delivery.
    ///
    /// - Parameter accept: The judge of hooks that other processes may have brought.
    init(
        _ configuration: QueueConfiguration, engine: any ExchangePerformer, builder: RequestBuilder,
        accept: @escaping JobJudge
    ) {
        settings = configuration.hooks
        webhooks = WebhookRules(configuration.configuration)
        self.engine = engine
        self.builder = builder
        self.accept = accept
    }

    /// Sets the commands and the webhook rules for later deliveries.
    func configure(_ settings: HookSettings, _ configuration: Configuration) {
        self.settings = settings
        webhooks = WebhookRules(configuration)
    }

    /// Whether all messages were delivered or given up.
    var isEmpty: Bool { turns.isEmpty }
    /// Whether no message is being delivered at the moment.
    var isIdle: Bool { turns.underWay.isEmpty }
    var failed: Int { turns.failed }
    var left: Int { turns.left }

    // MARK: Turns

    /// Notes that the store may have messages of the batch.
    ///
    /// - Parameter revivesFailed: Whether messages that failed in a former run are tried again.
    func came(_ batch: Int64, revivesFailed: Bool = false, on host: isolated some HookHost) {
        turns.came(batch, revivesFailed: revivesFailed)
        go(on: host)
    }

    /// Starts all deliveries that may start.
    func go(on host: isolated some HookHost) {
        if let (batch, revivesFailed) = turns.nextTaken() {
            host.withStore {
                try $0.takeHookCalls(batch: batch, revivesFailed: revivesFailed, limit: HookQueue.page)
            } then: { host, calls in
                let own = host.hooks
                own.settle(own.turns.took(calls.map(own.configured), of: batch, now: .now), on: host)
                own.go(on: host)
            }
        }
        while let call = turns.next(now: .now) { start(call, on: host) }
        if let due = turns.nextDue {
            host.timer(.hooks).schedule(at: due)
        } else {
            host.timer(.hooks).cancel()
        }
    }

    /// Returns the message with the retries that the configuration sets.
    private func configured(_ call: HookCall) -> HookCall {
        guard refusal(of: call) == nil, let webhook = call.hook.webhook else { return call }
        var call = call
        // The attempt reports a URL that cannot be read yet, or settings that contradict each other.
        if let settings = try? webhooks.settings(for: try? builder.secrets.read(webhook.url), of: call.settings) {
            call.settings.retry = settings.retry
        }
        return call
    }

    private func settle(_ outcomes: [HookOutcome], on host: isolated some HookHost) {
        guard !outcomes.isEmpty else { return }
        host.withStore {
            try $0.settleHookCalls(outcomes)
        } then: { _, _ in
        }
    }

    private func ended(_ call: HookCall, _ error: TransferError?, on host: isolated some HookHost) {
        stops[call.id] = nil
        let end = turns.ended(
            call.id, error, now: .now, random: .random(in: 0..<1), isEndless: host.isWatched(call.batch))
        if let end {
            settle([end.outcome], on: host)
            if let news = end.news { host.emit(call.batch, .hook(news)) }
        }
        go(on: host)
        host.pump()
    }

    /// Gives up messages of a folder that is no longer watched.
    func folderEnded(_ batch: Int64, on host: isolated some HookHost) {
        let ends = turns.folderEnded(batch)
        guard !ends.isEmpty else { return }
        settle(ends.map(\.outcome), on: host)
        for news in ends.compactMap(\.news) { host.emit(batch, .hook(news)) }
        go(on: host)
        host.pump()
    }

    /// Stops all deliveries with the run.
    func stop(on host: isolated some HookHost) {
        settle(turns.stop(), on: host)
        for stop in stops.values { stop() }
    }

    /// Prepares for another run.
    func endRun() { turns.begin() }

    /// Ends the threads when the queue is closed.
    func close() { workers.stop() }

    // MARK: Attempts

    private func start(_ call: HookCall, on host: isolated some HookHost) {
        if let refusal = refusal(of: call) { return later(call, refusal, on: host) }
        switch call.hook {
        case .command(let name): run(name, call, on: host)
        case .webhook(let webhook): post(webhook, call, on: host)
        }
    }

    /// Returns why this machine refuses a hook that other processes may have brought; `nil` if it accepts it.
    private func refusal(of call: HookCall) -> TransferError? { call.refusal(by: accept) }

    private func run(_ name: String, _ call: HookCall, on host: isolated some HookHost) {
        guard let command = settings.commands[name] else {
            let refusal = settings.refusal(of: name) ?? "no command \"\(name)\" is known"
            return later(call, TransferError(.hookFailed, refusal), on: host)
        }
        var environment = settings.environment
        environment["TRANSFER_EVENT_ID"] = call.event
        let run = CommandRun()
        stops[call.id] = { run.stop() }
        workers.execute { [host, environment] in
            var failure: TransferError?
            do throws(TransferError) {
                try run.run(command, named: name, environment: environment, message: call.body)
            } catch {
                failure = error
            }
            host.loop.execute { [failure] in host.onLoop { $0.hooks.ended(call, failure, on: $0) } }
        }
    }

    /// Ends an attempt that could not begin, once its turn is counted.
    private func later(_ call: HookCall, _ error: TransferError, on host: isolated some HookHost) {
        host.loop.execute { [host] in host.onLoop { $0.hooks.ended(call, error, on: $0) } }
    }

    private func post(_ webhook: FinishHook.Webhook, _ call: HookCall, on host: isolated some HookHost) {
        let names = [webhook.url, webhook.secret].compactMap { text -> String? in
            if case .credential(let name)? = text { name } else { nil }
        }
        let configured = try? webhooks.settings(for: try? builder.secrets.read(webhook.url), of: call.settings)
        let origin: Origin? = if case .literal(let url) = webhook.url { Origin(anyURL: url) } else { nil }
        guard let origin, let asked = host.credentials.providers(of: names + (configured?.credentialNames ?? []))
        else {
            return send(webhook, call, builder.secrets, on: host)
        }
        Task { [host] in
            let answer = await asked.values(for: origin)
            host.loop.execute {
                host.onLoop { host in
                    let own = host.hooks
                    switch answer {
                    case .success(let values): own.send(webhook, call, own.builder.secrets.with(values), on: host)
                    case .failure(let error): own.ended(call, error, on: host)
                    }
                }
            }
        }
    }

    private func send(
        _ webhook: FinishHook.Webhook, _ call: HookCall, _ secrets: SecretSource, on host: isolated some HookHost
    ) {
        var exchange: ExchangeRequest
        let settings: JobSettings
        do throws(TransferError) {
            let message = try WebhookMessage(webhook, secrets)
            settings = try webhooks.settings(for: message.url, of: call.settings)
            let spec = JobSpec(
                work: .download(JobSpec.Download(urls: [message.url], destination: "")), settings: settings)
            exchange = try builder(secrets, settings).exchange(
                message.request(id: call.event, body: call.body, now: WallClock.seconds), of: spec, source: nil)
        } catch {
            return later(call, error, on: host)
        }
        exchange.settings.maxTime = settings.maxTime ?? Self.webhookLimit
        let handle = engine.start(exchange, makeSink: { AnswerSink(limit: 4 << 10) }) { [host] event in
            guard case .ended(let outcome) = event else { return }
            let failure = Self.failure(outcome, webhook)
            host.loop.execute { host.onLoop { $0.hooks.ended(call, failure, on: $0) } }
        }
        stops[call.id] = { handle.cancel() }
    }

    private func builder(_ secrets: SecretSource, _ settings: JobSettings) -> RequestBuilder {
        var builder = builder
        builder.secrets = secrets
        if settings.http.cookies != nil { builder.cookies = JourneyCookies() }
        return builder
    }

    /// Judges the answer.
    ///
    /// - Returns: `nil` if the webhook has accepted the message, which only a 2xx status shows.
    private static func failure(_ outcome: ExchangeOutcome, _ webhook: FinishHook.Webhook) -> TransferError? {
        let name = FinishHook.webhook(webhook).shown
        switch outcome.result {
        case .failure(var error):
            error.message = "\(name): \(error.message)"
            return error
        case .success(let head) where (200..<300).contains(head.status): return nil
        case .success(let head):
            let redirects = (300..<400).contains(head.status) ? "; a webhook follows no redirect" : ""
            return TransferError(
                .httpStatus, "\(name): it answered \(head.status)\(redirects)", cause: .http(status: head.status),
                retryAfter: StatusRule.error(head, now: WallClock.seconds).retryAfter)
        }
    }
}
