import TransferQueue

/// The methods of aria2's interface, applied to the queue.
struct AriaCalls: Sendable {
    let downloads: AriaDownloads
    let adding: AriaAdding
    let options: AriaOptions
    let order: AriaOrder
    let uris: AriaURIs
    /// A closure that ends the service.
    let shutdown: @Sendable () -> Void
    private let session = String(
        (0..<40).map { _ in Character(String(UInt8.random(in: 0..<16), radix: 16)) })

    init(
        downloads: AriaDownloads, adding: AriaAdding, options: AriaOptions, order: AriaOrder, uris: AriaURIs,
        shutdown: @escaping @Sendable () -> Void
    ) {
        self.downloads = downloads
        self.adding = adding
        self.options = options
        self.order = order
        self.uris = uris
        self.shutdown = shutdown
    }

    private static let ok = JSONValue.string("OK")

    /// Makes a call.
    ///
    /// - Parameter level: The client's rights; only an owner is shown the queries of URLs.
    func call(
        _ method: AriaMethod, _ parameters: AriaParameters, _ level: AccessRules.Level
    ) async throws -> JSONValue {
        let downloads = downloads.shown(to: level)
        switch method {
        case .addUri: return .string(try await adding.addURIs(parameters, order))
        case .addMetalink: return .array(try await adding.addMetalink(parameters, order).map { .string($0) })
        case .remove, .forceRemove: return .string(try await downloads.remove(try parameters.text(0)))
        case .pause, .forcePause: return .string(try await downloads.pause(try parameters.text(0)))
        case .unpause: return .string(try await downloads.unpause(try parameters.text(0)))
        case .pauseAll, .forcePauseAll: try await downloads.steerAll(.pause)
        case .unpauseAll: try await downloads.steerAll(.resume)
        case .changePosition: return .number(String(try await order.change(parameters, downloads)))
        case .tellStatus:
            return try await downloads.status(try parameters.text(0), try parameters.keys(1))
        case .getUris: return try await downloads.uris(try parameters.text(0))
        case .getFiles: return try await downloads.files(try parameters.text(0))
        case .getPeers: return try await downloads.peers(try parameters.text(0))
        case .getServers: return try await downloads.servers(try parameters.text(0))
        case .tellActive: return try await downloads.active(try parameters.keys(0))
        case .tellWaiting:
            return try await downloads.waiting(
                try parameters.integer(0), try parameters.integer(1, from: 0), try parameters.keys(2))
        case .tellStopped:
            return try await downloads.stopped(
                try parameters.integer(0), try parameters.integer(1, from: 0), try parameters.keys(2))
        case .getOption: return try await options.option(try parameters.text(0), downloads)
        case .changeUri: return try await uris.change(parameters, downloads)
        case .changeOption:
            try await options.change(try parameters.text(0), try parameters.members(1), downloads)
        case .getGlobalOption: return options.global
        case .changeGlobalOption: try options.changeGlobal(try parameters.members(0))
        case .purgeDownloadResult: try await downloads.purge()
        case .removeDownloadResult: try await downloads.removeResult(try parameters.text(0))
        case .getVersion: return Self.version
        case .getSessionInfo: return .object(["sessionId": .string(session)])
        case .getGlobalStat: return try await downloads.statistics()
        // The queue saves everything at once, so there is nothing to do.
        case .saveSession: break
        case .shutdown, .forceShutdown: shutdown()
        case .listMethods: return .array(AriaMethod.allCases.map { .string($0.rawValue) })
        case .listNotifications: return .array(AriaNotification.allCases.map { .string($0.rawValue) })
        case .multicall: throw AriaError("Recursive system.multicall forbidden.")
        }
        return Self.ok
    }

    private static let version = JSONValue.object([
        "version": .string(TransferVersion.current),
        "enabledFeatures": .array(
            ["Async DNS", "GZip", "HTTPS", "Message Digest", "Metalink"].map { .string($0) }),
    ])
}
