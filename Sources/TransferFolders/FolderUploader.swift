import CTransferFailpoint
package import TransferCore
package import TransferEventLoop
package import TransferJobs
package import TransferStore
package import TransferWatch

/// Takes what a watcher offers into the ledger and the queue, and sees to files that were confirmed. Lives on the
/// queue's loop; whatever blocks is done by workers.
package actor FolderUploader: LoopActor {
    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package nonisolated let plan: WatchPlan
    package let host: any FolderHost
    package let history: any UploadHistory
    package let pools: WatchPools
    package let tell: @Sendable (WatchedFolderEvent) -> Void
    package let folder: Int64
    /// The batch has another row after its batch was forgotten.
    package private(set) var batch: HeldBatch
    package nonisolated let times: WatchTimes

    package private(set) var watcher: FolderWatcher?
    package nonisolated let stopFlag = StopFlag()
    package nonisolated var isStopped: Bool { stopFlag.isSet }
    private var ending: Task<Void, Never>?
    /// Whether the watched folder is there.
    package private(set) var hasRoot = false
    private var isFull = false
    /// All folders were read, and what was found was taken.
    private var hasCaughtUp = false
    package private(set) var offering = Offering.nothing
    package var counts: FolderCounts
    package var due = DueFiles()
    package var hashing = RepeatedWork()
    package var pruning = PruneRule()
    package var failed: FailedFiles
    package var timers: [WatchTimer: LoopTimer] = [:]

    /// Files that may have other bytes than those that are being uploaded.
    private var changedUnderWay: Set<PathKey> = []

    /// Names that were told not to be uploaded, or found to have been told: those that needn't be looked up.
    private var otherNames: Set<PathKey> = []
    private static let mostOtherNames = 10_000

    /// How far what the watcher offers has got.
    package enum Offering: Sendable {
        case nothing
        case inquiring
        /// Handed to the ledger, from which it isn't taken back.
        case taking
    }

    package init(
        _ plan: WatchPlan, opened: OpenedHistory, kept: Int, host: any FolderHost, loop: EventLoop,
        history: any UploadHistory, pools: WatchPools,
        times: WatchTimes, tell: @escaping @Sendable (WatchedFolderEvent) -> Void
    ) {
        self.plan = plan
        self.tell = tell
        self.times = times
        failed = FailedFiles(times.again)
        self.loop = loop
        self.host = host
        self.history = history
        self.pools = pools
        folder = opened.folder
        batch = opened.batch
        counts = FolderCounts(
            open: opened.changes.open, stamp: opened.changes.stamp, kept: kept, countsKept: plan.spec.keepFor != nil)
    }

    /// Begins to watch.
    package func start(_ opened: OpenedHistory) {
        host.hear(.began(opened.batch, opened.changes), from: self)
        var options = FolderWatcher.Options()
        options.rules = plan.spec.rules
        options.settle = plan.spec.settle
        options.order = plan.spec.order
        if plan.spec.isNewOnly { options.since = opened.since }
        let watcher = FolderWatcher(
            plan.root, options: options, loop: loop, workers: pools.folders, consumer: self
        ) { [weak self] event in
            self?.onLoop { $0.heard(event) }
        }
        self.watcher = watcher
        if let former = opened.formerURL { tell(.retargeted(from: former)) }
        if opened.isPaused { tell(.paused) }
        watcher.start()
        if let next = opened.nextFailed { hear(.began(next: next)) }
        tellBacklog()
        actOnDue()
        computeDigests()
    }

    /// - Returns: When nothing more comes of it.
    package func stop() async {
        stopFlag.set()
        let ending = ending ?? Task { await end() }
        self.ending = ending
        await ending.value
    }

    private func end() async {
        await watcher?.stop()
        watcher = nil
        for timer in timers.values { loop.remove(timer) }
        timers = [:]
        // The next keeper of the folder may want something else of the same file.
        await due.acting?.value
        let id = batch.id
        host.hear(.ended(batch: id), from: self)
    }

    private func heard(_ event: WatchEvent) {
        guard !isStopped else { return }
        switch event {
        case .rootFound, .rootReturned:
            (hasRoot, hasCaughtUp) = (true, false)
            actOnDue()
        case .rootLost: hasRoot = false
        case .caughtUp:
            hasCaughtUp = true
            pruneIfWorthwhile(isQuiet: true)
        case .overflowed: hasCaughtUp = false
        case .polling, .leftAlone: break
        }
        tellMore()
        tell(.watch(event))
    }

    /// Work whose outcome comes back here; the database's failure is the queue's.
    package func onStore<Value: Sendable>(_ work: @escaping @Sendable (any UploadHistory) throws -> Value) async -> Value?
    {
        do {
            return try await pools.store.run { [history] in try work(history) }
        } catch {
            guard !isStopped else { return nil }
            host.hear(.storeFailed(error), from: self)
            return nil
        }
    }

    package func note(_ open: Int, _ stamp: Int) {
        counts.note(open: open, stamp: stamp)
    }

    package func tellBacklog() {
        if let news = counts.news() { tell(.backlog(waiting: news.waiting, kept: news.kept)) }
    }

    private func tellMore() {
        let holdsMore = isFull || !hasCaughtUp
        guard counts.isNews(holdsMore: holdsMore) else { return }
        tell(.holdsMore(holdsMore))
    }

    // MARK: Ends of jobs

    /// Jobs of the folder ended, or were taken out.
    ///
    /// - Parameter failure: The error of the end with that number, and when its file is tried again.
    package func jobsEnded(
        _ ends: [WatchedEnds.End], open: Int, stamp: Int, failure: (Int) -> (error: TransferError, again: Duration?)?
    ) {
        note(open, stamp)
        var isDue = false
        var lacksDigest = false
        for end in ends {
            if changedUnderWay.remove(PathKey(end.path)) != nil { suspect(end.path) }
            switch end.kind {
            case .confirmed(let url, let due, let hasDigest):
                tell(.confirmed(path: end.path, url: url))
                hear(.succeeded(job: end.job))
                if let due {
                    counts.keptMore(1)
                    if due <= WallClock.milliseconds { isDue = true } else { schedule(dueAt: due) }
                }
                if !hasDigest { lacksDigest = true }
            case .dropped(let isChanged):
                hear(.left(job: end.job))
                if isChanged { suspect(end.path) }
            case .replaced(let wasKept):
                if wasKept { counts.keptMore(-1) }
                suspect(end.path)
            case .failed:
                guard let (error, again) = failure(end.index) else { continue }
                hear(again.map { .failed(job: end.job, again: $0) } ?? .left(job: end.job))
                if error.code == .digestUnknown || error.code == .checksumMismatch {
                    tell(.stays(path: end.path, error, again: nil))
                }
            }
        }
        // Not for each single end, as the watcher offers many at once. What it is offering now may be refused.
        if isFull || offering != .nothing, open <= plan.lowMark {
            isFull = false
            watcher?.proceed()
        }
        if isDue { actOnDue() }
        if lacksDigest { computeDigests() }
        tellBacklog()
    }
}

extension FolderUploader: WatchConsumer {
    package func offer(_ files: [FileVersion]) async -> Int {
        offering = .inquiring
        defer { offering = .nothing }
        let (folder, plan) = (folder, plan)
        guard let looks = await onStore({ try $0.look(files, folder: folder) }) else { return refuse() }
        // Files that a reading finds are known nearly always.
        let isNews = zip(files, looks).contains { file, look in
            if case .known(let row) = look { row.mayHaveChanged(file.stamp) } else { true }
        }
        guard isNews, !isStopped else { return isStopped ? 0 : files.count }
        let offers: [HistoryOffer]
        do {
            offers = try await pools.files.run { [stopFlag] in
                VersionInquiry(plan) { stopFlag.isSet }.inquire(files, looks)
            }
        } catch {
            return refuse()
        }
        guard !isStopped else { return 0 }
        var otherNames: [(known: String, name: String)] = []
        for offer in offers {
            let path = offer.version.path
            // The folder tells nothing of a time that was set, nor of bytes that were cut off by name.
            if offer.isOutdated { suspect(path) }
            if case .otherName(let known) = offer.finding { otherNames.append((known, path)) }
            if !offer.isForLater {
                changedUnderWay.remove(PathKey(path))
            } else if changedUnderWay.insert(PathKey(path)).inserted {
                // The file's upload may have ended since the ledger was asked.
                suspect(path)
            }
        }
        await tellOtherNames(otherNames)
        guard !isStopped else { return 0 }
        guard !offers.allSatisfy(\.isNothing) else { return files.count }
        offering = .taking
        Failpoint.reached(.filesOffered)
        guard let (held, changes) = await onStore({ try $0.take(offers, folder: folder, plan: plan) }) else {
            return refuse()
        }
        guard !isStopped else {
            host.hear(.tookLast(held, changes), from: self)
            return changes.handled
        }
        Failpoint.reached(.filesTaken)
        batch = held
        note(changes.open, changes.stamp)
        isFull = changes.handled < files.count
        if isFull { hasCaughtUp = false }
        tellMore()
        host.hear(.took(held, changes), from: self)
        counts.keptMore(changes.returned)
        if changes.hasDue { actOnDue() }
        pruning.took(changes.added)
        pruneIfWorthwhile(isQuiet: false)
        tellBacklog()
        await tellOtherNames(changes.otherNames)
        return changes.handled
    }

    package func leave(_ files: [FileVersion]) async {
        guard !isStopped else { return }
        _ = await onStore { [folder] in try $0.note(old: files, folder: folder) }
    }

    /// The file may be another version than the one that is known, or the one that was known has been let go: of neither
    /// the folder tells.
    package func suspect(_ path: String) {
        guard let watcher, plan.spec.rules.takes(file: path) else { return }
        // Until the watcher has looked, the folder holds a version that no job is for.
        hasCaughtUp = false
        tellMore()
        watcher.look(at: [path])
    }

    /// Once for each, also when the folder is watched anew.
    private func tellOtherNames(_ names: [(known: String, name: String)]) async {
        if otherNames.count >= Self.mostOtherNames { otherNames.removeAll() }
        let found = names.filter { otherNames.insert(PathKey($0.name)).inserted }
        guard !found.isEmpty else { return }
        let (folder, paths) = (folder, found.map(\.name))
        guard let isNew = await onStore({ try $0.noteOtherNames(paths, folder: folder) }), !isStopped else { return }
        for (other, isNew) in zip(found, isNew) where isNew {
            tell(.notUploaded(path: other.name, sameAs: other.known))
        }
    }

    private func refuse() -> Int {
        isFull = true
        return 0
    }
}
