import TransferQueue

/// The downloads as aria2's clients read and control them.
struct AriaDownloads: Sendable {
    let served: ServedQueue
    let live: LiveJobs
    let view: AriaView
    let news: AriaNotifications
    /// Whether the client is shown the queries of URLs.
    private(set) var isOwner = false

    func shown(to level: AccessRules.Level) -> AriaDownloads {
        var downloads = self
        downloads.isOwner = level == .owner
        return downloads
    }

    /// The maximum number of downloads in one response.
    static let mostDownloads = 10_000

    // MARK: Single downloads

    /// Returns the download with a gid.
    ///
    /// - Throws: `AriaError` where there is no such download, or its result was purged.
    func entry(_ gid: String) async throws -> JobEntry {
        guard !gid.isEmpty, gid.utf8.count <= 16, gid.allSatisfy({ $0.isHexDigit && $0.isASCII }) else {
            throw AriaError("Invalid GID \(gid)")
        }
        let entry = try await served.look { try JobNames.download(gid, in: $0) }
        guard let entry, !entry.isUpload, view.shows(entry) else { throw AriaError.notFound(gid) }
        return entry
    }

    func status(of entry: JobEntry) -> AriaStatus {
        AriaStatus(
            entry: entry, live: live.job(entry.listed.job, batch: entry.batch),
            last: live.last(entry.listed.job, batch: entry.batch), root: served.rules.directory, isOwner: isOwner)
    }

    func status(_ gid: String, _ keys: Set<String>?) async throws -> JSONValue {
        status(of: try await entry(gid)).value(keys)
    }

    func uris(_ gid: String) async throws -> JSONValue {
        let status = status(of: try await entry(gid))
        guard !status.entry.listed.state.hasEnded else {
            throw AriaError("No URI data is available for GID#\(status.gid)")
        }
        return status.uris
    }

    func files(_ gid: String) async throws -> JSONValue { .array([status(of: try await entry(gid)).file]) }

    /// Returns the peers of a download: none, since it has servers.
    func peers(_ gid: String) async throws -> JSONValue {
        let status = status(of: try await entry(gid))
        guard !status.entry.listed.state.hasEnded else {
            throw AriaError("No peer data is available for GID#\(status.gid)")
        }
        return .array([])
    }

    func servers(_ gid: String) async throws -> JSONValue {
        let status = status(of: try await entry(gid))
        guard status.word == .active else { throw AriaError("No active download for GID#\(status.gid)") }
        return status.servers
    }

    // MARK: Lists

    private func page(_ selection: JobSelection, _ keys: Set<String>?) async throws -> [JSONValue] {
        try await served.look { try $0.jobs(selection) }.map { status(of: $0).value(keys) }
    }

    private static func selection(_ states: Set<JobState>) -> JobSelection {
        var selection = JobSelection()
        selection.states = states
        selection.isUpload = false
        selection.limit = mostDownloads
        return selection
    }

    static let waitingStates: Set<JobState> = [.queued, .waiting, .blocked, .paused]

    private func activeDownloads() async throws -> [AriaStatus] {
        let selection = Self.selection([.claimed])
        return try await served.look { try $0.jobs(selection) }.map { status(of: $0) }.filter { $0.word == .active }
    }

    func active(_ keys: Set<String>?) async throws -> JSONValue {
        .array(try await activeDownloads().map { $0.value(keys) })
    }

    /// Returns a selection of downloads that wait for their turn, including those that a process has claimed early.
    func waitingSelection() async throws -> JobSelection {
        var selection = Self.selection(Self.waitingStates.union([.claimed]))
        selection.hidden = try await activeDownloads().map(\.entry.number)
        selection.order = .turn(skipping: 0)
        return selection
    }

    func waiting(_ offset: Int, _ count: Int, _ keys: Set<String>?) async throws -> JSONValue {
        try await part(offset, count, keys, of: try await waitingSelection()) { .turn(skipping: $0) }
    }

    private func stoppedSelection() -> JobSelection {
        var selection = Self.selection([.done, .failed, .skipped, .cancelled])
        let mark = view.current
        selection.hidden = Array(mark.removed)
        selection.order = .ends(after: mark.purged, skipping: 0)
        return selection
    }

    func stopped(_ offset: Int, _ count: Int, _ keys: Set<String>?) async throws -> JSONValue {
        let mark = view.current.purged
        return try await part(offset, count, keys, of: stoppedSelection()) { .ends(after: mark, skipping: $0) }
    }

    /// Returns a part of a list. A negative offset counts from the end, and the part is then in reverse order.
    private func part(
        _ offset: Int, _ count: Int, _ keys: Set<String>?, of all: JobSelection,
        _ order: (Int) -> JobSelection.Order
    ) async throws -> JSONValue {
        guard count > 0 else { return .array([]) }
        var selection = all
        let most = min(count, Self.mostDownloads)
        guard offset < 0 else {
            selection.order = order(offset)
            selection.limit = most
            return .array(try await page(selection, keys))
        }
        let total = try await served.look { [selection] in try $0.count(selection) }
        let last = total + offset
        guard last >= 0 else { return .array([]) }
        let first = max(0, last - most + 1)
        selection.order = order(first)
        selection.limit = last - first + 1
        return .array(try await page(selection, keys).reversed())
    }

    func statistics() async throws -> JSONValue {
        let (waiting, stopped) = (try await waitingSelection(), stoppedSelection())
        let counts = try await served.look { remote in
            [String(waiting.hidden.count)] + (try [waiting, stopped].map { String(try remote.count($0)) })
        }
        let rates = live.rates
        return .object([
            "downloadSpeed": .string(String(rates.download)), "uploadSpeed": .string(String(rates.upload)),
            "numActive": .string(counts[0]), "numWaiting": .string(counts[1]), "numStopped": .string(counts[2]),
            "numStoppedTotal": .string(counts[2]),
        ])
    }

    // MARK: Steering

    func pause(_ gid: String) async throws -> String {
        let entry = try await entry(gid)
        let name = AriaGID.name(entry)
        guard entry.listed.state != .paused, !entry.listed.state.hasEnded else {
            throw AriaError("GID#\(name) cannot be paused now")
        }
        try await served.queue.ask(.pause, batch: entry.batch, job: entry.listed.job)
        return name
    }

    func unpause(_ gid: String) async throws -> String {
        let entry = try await entry(gid)
        let name = AriaGID.name(entry)
        guard entry.listed.state == .paused else { throw AriaError("GID#\(name) cannot be unpaused now") }
        try await served.queue.ask(.resume, batch: entry.batch, job: entry.listed.job)
        return name
    }

    /// Cancels a download. A download that had not started leaves no result, as in aria2.
    func remove(_ gid: String) async throws -> String {
        let entry = try await entry(gid)
        let name = AriaGID.name(entry)
        guard !entry.listed.state.hasEnded else { throw AriaError("Active Download not found for GID#\(name)") }
        // The state must be read before the cancellation, after which no download is active.
        let wasActive = status(of: entry).word == .active
        try await served.queue.ask(.cancel, batch: entry.batch, job: entry.listed.job)
        if !wasActive { view.remove(entry.number) }
        return name
    }

    func steerAll(_ verb: QueueVerb) async throws {
        for name in try await served.look({ try $0.batchNames() }) {
            try await served.queue.ask(verb, batch: name)
        }
    }

    // MARK: Results

    func purge() async throws {
        let removed = view.current.removed
        var selection = JobSelection()
        selection.numbers = Array(removed)
        selection.states = Set(JobState.allCases.filter { !$0.hasEnded })
        selection.limit = removed.count
        let unfinished = try await served.look { [selection] remote in
            selection.numbers?.isEmpty == false ? try remote.jobs(selection).map(\.number) : []
        }
        // The cursor, which is read last, covers all that had ended before.
        let cursor = try await served.look { try $0.lastCursor() }
        view.purge(upTo: cursor, forgetting: removed.subtracting(unfinished))
    }

    func removeResult(_ gid: String) async throws {
        let entry = try await entry(gid)
        guard entry.listed.state.hasEnded else {
            throw AriaError("Could not remove download result of GID#\(AriaGID.name(entry))")
        }
        view.remove(entry.number)
    }
}
