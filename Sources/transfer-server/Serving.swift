import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle
import TransferCore
import TransferQueue
import TransferServer
import TransferService
import UnixSignals

/// One run of the service, from the options to the final message.
struct Serving {
    private let options: ServeCommand
    private let environment = ProcessInfo.processInfo.environment

    init(_ options: ServeCommand) { self.options = options }

    func run() async throws {
        guard let address = try options.address() else { return try await serve() }
        let shifts = ServedWorkers(address: address, notify: SystemdNotify(environment: environment)) {
            try await serve()
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: shifts, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: Self.signals, logger: Self.quiet))
        try await group.run()
    }

    /// Whether the service runs on a terminal, where SIGHUP reports the loss of that terminal.
    private static let isOnTerminal = isatty(STDERR_FILENO) == 1
    private static let signals: [UnixSignal] = [.sigterm, .sigint] + (isOnTerminal ? [.sighup] : [])

    private func serve() async throws {
        let set = try options.configuration.load()
        let settings = set.serve
        let address = try listenAddress(settings)
        let state = absolute(try StateFolder.locate(explicit: options.state, environment: environment))
        let directory = try folder(settings)
        try Self.refuse(state: state, beneath: directory)
        let (access, printed) = try access(state: state, address, settings)
        var rules = OutsideRules(directory: directory)
        rules.allowsPrivate = options.access.allowsPrivate || settings.allowsPrivate == true
        rules.secrets = try options.access.allowedSecrets()
        if rules.secrets.isEmpty {
            rules.secrets = settings.secrets.mapValues { Set($0.compactMap { Origin(anyURL: $0) }) }
        }
        var configuration = ServerConfiguration(address: address, access: access, rules: rules)
        configuration.logger = logger
        (configuration.stateFolder, configuration.queueAddress) = (state, options.queue)
        // The service ends as at an operator's signal, after the response has been sent.
        configuration.shutdown = { kill(getpid(), SIGTERM) }

        let surroundings = Surroundings.of(set, environment)
        var opening = queueConfiguration(state)
        (opening.configuration, opening.hooks) = (set, surroundings.hooks)
        opening.meteredRule = MeteredRule(links: set.meteredLinks)
        opening.sealingKey = try sealingKey(state)
        (configuration.sealingKey, configuration.isShared) = (opening.sealingKey, options.queue != nil)
        let place = ServedQueuePlace(try options.address(), opening, rules)
        let queue = try await cancelWhenGracefulShutdown { try await place.open() }
        if let notice = queue.notice { StandardStreams.tell("transfer serve: \(notice)") }
        do {
            let remote = try place.remote()
            let retention = (options.age ?? settings.keep).map { age in
                Task { await place.retention(age, remote).run() }
            }
            defer { retention?.cancel() }
            try await serve(queue, remote, &configuration, set, surroundings, printed: printed)
        } catch {
            await queue.close()
            throw error
        }
        await queue.close()
    }

    private func serve(
        _ queue: JobQueue, _ remote: QueueRemote, _ configuration: inout ServerConfiguration, _ set: Configuration,
        _ surroundings: ServedFiles.Surroundings, printed secret: String?
    ) async throws {
        let files = ServedFiles(options.files.map(absolute), directory: configuration.rules.directory)
        configuration.running = options.bounds.limits(try await files.begin(on: queue, surroundings), set)
        queue.setLimits(configuration.running)
        let notify = SystemdNotify(environment: environment)
        let watchdog = notify.flatMap { queue.watchdog($0) }
        let directory = configuration.rules.directory
        configuration.ready = { address in
            Self.tell(address, directory, secret)
            notify?.send(.ready, .status("serving \(directory) at \(address)"))
        }
        configuration.address = try Self.own(configuration.address)
        let server = try TransferServer(queue, remote, configuration)
        let reloading = Reloading(
            files: files, configuration: options.configuration, bounds: options.bounds, environment: environment,
            queue: queue, server: server, notify: notify, limits: configuration.running)
        let worker: any Service = options.queue == nil ? QueueService(queue) : ServedWorkers.Worker(queue: queue)
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: worker, failureTerminationBehavior: .cancelGroup), .init(service: server),
        ]
        if !Self.isOnTerminal { services.append(.init(service: reloading)) }
        // Between shifts, the surrounding group handles the signals.
        let signals = options.queue == nil ? Self.signals : []
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services, gracefulShutdownSignals: signals, logger: Self.quiet))
        do {
            try await withGracefulShutdownHandler {
                try await group.run()
            } onGracefulShutdown: {
                Task { await group.triggerGracefulShutdown() }
            }
            notify?.send(.stopping)
        } catch {
            watchdog?.stop()
            await files.stop()
            throw error
        }
        watchdog?.stop()
        await files.stop()
    }

    private static func tell(_ address: ListenAddress, _ directory: String, _ secret: String?) {
        StandardStreams.say("serving \(directory) at \(address)")
        guard let secret, case .loopback = address else { return }
        StandardStreams.say("its page, with the secret that was made just now: \(address)/#token=\(secret)")
    }

    // MARK: Options

    private func folder(_ settings: ServeSettings) throws -> String {
        let path = absolute(options.directory ?? settings.directory ?? ".")
        guard let real = realpath(path, nil) else {
            throw TransferError(.fileAccess, "cannot use \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        defer { free(real) }
        return String(cString: real)
    }

    /// Refuses a state folder beneath the served folder. Clients may send files from there anywhere, and must not reach
    /// the queue's database and its secret.
    private static func refuse(state: String, beneath directory: String) throws {
        _ = try StateFolder(state)
        guard let real = realpath(state, nil) else { return }
        defer { free(real) }
        let path = String(cString: real)
        guard path == directory || JobConfinement.inner(of: path, beneath: directory) != nil else { return }
        throw TransferError(
            .invalidRequest,
            "the queue's state (\(path)) is beneath \(directory), where clients may read: name a folder for them with --directory"
        )
    }

    /// Returns the address: the one in the options, else the socket of the service manager (sd_listen_fds(3)), else the
    /// one in the configuration, else aria2's port.
    private func listenAddress(_ settings: ServeSettings) throws -> ListenAddress {
        if let text = options.listen { return try ListenAddress(text) }
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap({ Int($0) })
        else {
            return try settings.listen.map { try ListenAddress($0) } ?? .standard
        }
        guard count == 1 else {
            throw TransferError(.invalidRequest, "\(count) sockets were handed over, and one is served")
        }
        let first: Int32 = 3
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        return .inherited(first)
    }

    /// Returns a copy of the address for one server, which closes its socket; another server may follow.
    private static func own(_ address: ListenAddress) throws -> ListenAddress {
        guard case .inherited(let descriptor) = address else { return address }
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, descriptor + 1)
        guard own >= 0 else { throw TransferError(.internalFault, "no descriptor is left for the manager's socket") }
        return .inherited(own)
    }

    /// Returns the rules for access.
    ///
    /// - Returns: The rules, and the secret if it was created just now.
    private func access(
        state: String, _ address: ListenAddress, _ settings: ServeSettings
    ) throws -> (AccessRules, made: String?) {
        let (access, made) = try readAccess(state: state, address, settings)
        try access.check()
        return (access, made)
    }

    private func readAccess(
        state: String, _ address: ListenAddress, _ settings: ServeSettings
    ) throws -> (AccessRules, made: String?) {
        var access = AccessRules()
        access.origins = options.access.origins.isEmpty ? settings.origins : options.access.origins
        access.isOpen = options.access.isOpen
        access.readSecrets = try options.access.readSecrets.map { try secret($0, "--read-secret") }
        if let named = options.access.secret {
            access.secrets = [try secret(named, "--secret")]
            return (access, nil)
        }
        guard !access.isOpen else { return (access, nil) }
        if let source = settings.secret {
            access.secrets = [try secret(source, "\"serve\" of the configuration")]
            return (access, nil)
        }
        _ = try StateFolder(state)
        let (text, isNew) = try SecretFile.secret(in: state)
        guard let own = ServerSecret(text) else {
            throw TransferError(.secretMissing, "\(state)/serve.secret holds no secret: remove it, and one is made")
        }
        access.secrets = [own]
        return (access, isNew ? text : nil)
    }

    /// Returns the key of secrets that clients write out. A shared queue has one only if it was named, because other
    /// workers need it too.
    private func sealingKey(_ state: String) throws -> SealingKey? {
        if let word = options.queueKey {
            return try SealingKey.named(word, secrets, folder: FileManager.default.currentDirectoryPath)
        }
        guard options.queue == nil else { return nil }
        _ = try StateFolder(state)
        return try SealingKey.created(in: state)
    }

    /// Reads a secret.
    ///
    /// - Throws: An error without the value, which may be a secret in the wrong place.
    private func secret(_ text: String, _ option: String) throws -> ServerSecret {
        let source: SecretText
        if text.hasPrefix("$"), text.count > 1 {
            source = .environment(String(text.dropFirst()))
        } else if text.hasPrefix("@"), text.count > 1 {
            source = .file(absolute(String(text.dropFirst())))
        } else {
            throw ValidationError(
                "\(option) takes '$VARIABLE' or '@FILE': every user of the machine sees the command line")
        }
        return try secret(source, option)
    }

    private func secret(_ source: SecretText, _ place: String) throws -> ServerSecret {
        guard let secret = ServerSecret(try secrets.read(source)) else {
            throw TransferError(.secretMissing, "the secret of \(place) has fewer than 8 characters, or a space")
        }
        return secret
    }

    private var secrets: SecretSource {
        let environment = environment
        return SecretSource(
            environment: { environment[$0] }, credentialsFolder: environment["CREDENTIALS_DIRECTORY"])
    }

    private func queueConfiguration(_ state: String) -> QueueConfiguration {
        var configuration = QueueConfiguration(state: state, logger: logger)
        configuration.userAgent = "transfer/\(TransferVersion.current)"
        configuration.proxies = ProxyRule(environment: environment)
        configuration.secrets = secrets
        configuration.runtimeFolder = environment["XDG_RUNTIME_DIR"]
        return configuration
    }

    private var logger: Logger {
        var logger = Logger(label: "transfer serve") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = options.verbose ? .info : .warning
        return logger
    }

    /// A logger that hides the group's own steps.
    static let quiet: Logger = {
        var logger = Logger(label: "transfer serve") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }()

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
