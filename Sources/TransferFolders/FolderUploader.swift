import CTransferLinux
package import TransferCore
package import TransferEventLoop
package import TransferJobs
package import TransferStore
package import TransferWatch

/// The uploader of a watched folder: it takes offered files into the upload history and the queue, and handles
/// confirmed files. It is on the queue's loop; workers do all blocking work.
package actor FolderUploader: LoopActor {
    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package nonisolated let plan: WatchPlan
    package let host: any FolderHost
    package let history: any UploadHistory
    package let pools: WatchPools
    package let tell: @Sendable (WatchedFolderEvent) -> Void
    package let folder: Int64
    /// The folder's batch, which gets another row after it was forgotten.
    package private(set) var batch: HeldBatch
    package nonisolated let times: WatchTimes

    package private(set) var watcher: FolderWatcher?
    package nonisolated let stopFlag = StopFlag()
    package nonisolated var isStopped: Bool { stopFlag.isSet }
    private var ending: Task<Void, Never>?
    /// Whether the watched folder is there.
    package private(set) var hasRoot = false
    private var isFull = false
    /// Whether all folders were read, and all found files taken.
    private var hasCaughtUp = false
    package private(set) var offering = Offering.nothing
    package var counts: FolderCounts
    package var due = DueFiles()
    package var hashing = RepeatedWork()
    package var pruning = PruneRule()
    package var failed: FailedFiles
    package var timers: [WatchTimer: LoopTimer] = [:]

    /// The files that may have other bytes than those being uploaded.
    private var changedUnderWay: Set<PathKey> = []

    /// The other names that were already reported or looked up, and need no further lookup.
    private var otherNames: Set<PathKey> = []
    private static let mostOtherNames = 10_000

    /// The state of the watcher's present offer.
    package enum Offering: Sendable {
        case nothing
        case inquiring
        /// The files were passed to the upload history, which cannot be undone.
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

    /// Starts to watch.
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

    /// Ends watching, and returns when no further action can follow.
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
        // The next uploader of the folder may have to treat the same file differently.
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

    /// Does `work` on the store's thread and returns its result; a failure of the database is passed to the queue.
    package func onStore<Value: Sendable>(_ work: @escaping @Sendable (any UploadHistory) throws -> Value) async
        -> Value?
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

    /// Notes that jobs of the folder ended or were removed.
    ///
    /// - Parameter failure: A function that returns the error of the end with that number, and the time until its file
    ///   is retried.
    package func jobsEnded(
        _ ends: [WatchedEnds.End], open: Int, stamp: Int, failure: (Int) -> (error: TransferError, again: Duration?)?
    ) {
        note(open, stamp)
        if ends.isEmpty, history.sharesFolders { followOthers() }
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
        // The watcher offers many files at once, so it is not resumed for each end. Its present offer may still be
        // refused.
        if isFull || offering != .nothing, open <= plan.lowMark {
            isFull = false
            watcher?.proceed()
        }
        if isDue { actOnDue() }
        if lacksDigest { computeDigests() }
        tellBacklog()
    }
}

extension FolderUploader {
    /// Follows the ends of jobs in other processes. The history shows which of their files are to be moved or deleted.
    private func followOthers() {
        guard !isStopped else { return }
        for path in changedUnderWay { suspect(path.text) }
        changedUnderWay = []
        if plan.spec.then != .keep { actOnDue() }
        computeDigests()
        let id = batch.id
        Task {
            let woken = await onStore { try $0.wakeFailed(batch: id, .due, limit: 0) }
            guard let next = woken?.next, !isStopped else { return }
            hear(.failed(job: 0, again: next))
        }
    }
}

extension FolderUploader: WatchConsumer {
    package func offer(_ files: [FileVersion]) async -> Int {
        offering = .inquiring
        defer { offering = .nothing }
        let (folder, plan) = (folder, plan)
        guard let looks = await onStore({ try $0.look(files, folder: folder) }) else { return refuse() }
        // Files that a reading finds are nearly always known.
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
            // A time that was set, or a truncation by name, causes no event.
            if offer.isOutdated { suspect(path) }
            if case .otherName(let known) = offer.finding { otherNames.append((known, path)) }
            if !offer.isForLater {
                changedUnderWay.remove(PathKey(path))
            } else if changedUnderWay.insert(PathKey(path)).inserted {
                // The file's upload may have ended since the query of the history.
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

    /// Requests another look at a file. It may be another version than the known one, or the known one was dropped;
    /// neither causes an event.
    package func suspect(_ path: String) {
        guard let watcher, plan.spec.rules.takes(file: path) else { return }
        // The folder may hold a version without a job until the watcher has examined it.
        hasCaughtUp = false
        tellMore()
        watcher.look(at: [path])
    }

    /// Reports other names once each, even if the folder is watched again.
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
