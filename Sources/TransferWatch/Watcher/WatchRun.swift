import Glibc
import TransferCore
import TransferEventLoop

/// The shell of a ``WatchMachine``: from when the watched folder was found to when it's lost.
///
/// `@unchecked Sendable`: touched on its loop only; steps carry values to a worker and back.
final class WatchRun: @unchecked Sendable {
    private let reader: FolderReader
    private let options: WatchMachine.Options
    private let kernel: WatchKernel
    private let loop: EventLoop
    private let workers: WorkerPool
    private let offers: WatchOffers
    private let events: @Sendable (WatchEvent) -> Void

    /// The watched folder isn't there any more.
    var lost: (WatchRun, TransferError) -> Void = { _, _ in }
    /// There was no queue of events to be had, and now there is one.
    var regained: (WatchRun) -> Void = { _ in }
    /// Sets the time at which `advance()` is to be called; any time set before is void.
    var wakes: (MonotonicTime?) -> Void = { _ in }

    private var machine: WatchMachine
    private let inotify: Int32
    /// Watches of the folders above.
    private var places: Set<Int32>
    private var rootWatch: Int32?
    private var scan: FolderScan?
    private var isStepping = false
    /// True at first, too: the folder may have become another one before its place was watched.
    private var mustCheck = true
    private var isAdvancing = false
    private var hasEnded = false
    /// The time to ask again for a queue of events that was refused.
    private var retry: MonotonicTime?

    /// Reads of the queue for one turn of the loop, so that others on it have theirs.
    private static let readsPerTurn = 4

    init(
        _ found: RootFinder.Found, options: FolderWatcher.Options, kernel: WatchKernel, loop: EventLoop,
        workers: WorkerPool, offers: WatchOffers, events: @escaping @Sendable (WatchEvent) -> Void
    ) {
        reader = found.reader
        inotify = found.inotify
        places = found.places
        self.kernel = kernel
        self.loop = loop
        self.workers = workers
        self.offers = offers
        self.events = events
        self.options = WatchMachine.Options(
            rules: options.rules, settle: options.settle, order: options.order, capacity: options.capacity,
            unsettled: options.unsettledCapacity, pollInterval: options.pollInterval, polls: found.inotify < 0,
            since: options.since)
        machine = WatchMachine(options: self.options, refusal: found.refusal)
        if found.refusal != nil { retry = .now + options.pollInterval }
    }

    deinit { if inotify >= 0 { close(inotify) } }

    func start() {
        if inotify >= 0 { loop.register(inotify, for: .readable) { [weak self] _ in self?.read() } }
        advance()
    }

    func end() {
        hasEnded = true
        if inotify >= 0 { loop.unregister(inotify) }
        scan = nil
    }

    func proceed() {
        machine.proceed()
        advance()
    }

    func look(at paths: [String]) {
        machine.look(at: paths, now: .now)
        advance()
    }

    func rescan() {
        machine.rescan()
        advance()
    }

    /// Whether the watched folder is still at its path.
    func check() {
        mustCheck = true
        advance()
    }

    func withMachine<Value>(_ body: (inout WatchMachine) -> Value) -> Value {
        defer { advance() }
        return body(&machine)
    }

    private func read() {
        let now = MonotonicTime.now
        for _ in 0..<Self.readsPerTurn {
            let events = InotifyQueue.read(inotify)
            if events.isEmpty { break }
            for event in events {
                if !event.kind.isDisjoint(with: [.selfDeleted, .selfMoved, .unmounted, .ignored]),
                    places.contains(event.watch) || event.watch == rootWatch
                {
                    mustCheck = true
                }
                machine.take(event, at: now)
            }
        }
        advance()
    }

    /// Does what is to be done now, and sees to being called again.
    func advance() {
        // Callbacks that are told something may call us.
        guard !hasEnded, !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        let now = MonotonicTime.now
        if let due = retry, due <= now, retryQueue(now) { return regained(self) }
        machine.turn(at: now)
        if !isStepping {
            if mustCheck {
                perform(nil)
            } else if let step = machine.nextStep(at: now) {
                perform(step)
            }
        }
        if machine.reading == nil { scan = nil }
        if let files = machine.nextOffer(at: now) { offer(files) }
        for watch in machine.takeEndedWatches() where inotify >= 0 { kernel.remove(inotify, watch) }
        // The step that is under way comes back here.
        wakes(isStepping && machine.nextDue.map { $0 <= now } == true ? nil : machine.nextDue)
        for notice in machine.takeNotices() where !hasEnded { events(notice) }
    }

    private func retryQueue(_ now: MonotonicTime) -> Bool {
        retry = now + options.pollInterval
        let descriptor = kernel.create()
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    // MARK: Steps

    /// - Parameter step: `nil` to look whether the watched folder is there.
    private func perform(_ step: WatchMachine.Step?) {
        isStepping = true
        let reader = reader
        switch step {
        case nil:
            mustCheck = false
            work { [inotify, kernel] in
                // A link, or a folder, on the way may be another one that leads to the same place.
                let places = inotify < 0 ? [] : RootFinder.watchPlaces(of: reader.root, inotify, kernel)
                try reader.check()
                return places
            } then: { run, places in
                run.watched(places)
            }
        case .begin(let id, let path, let watches):
            work {
                try reader.begin(path)
            } then: { run, outcome in
                run.began(id, path, watches: watches, outcome)
            }
        case .read(let id, let limit):
            guard let scan, let path = machine.tree.path(of: id) else {
                // The folder went meanwhile; the machine drops it with this answer.
                return finish { run in run.machine.read(id, WatchMachine.Entries(end: .end), at: .now) }
            }
            work { [options] in
                scan.read(path: path, limit: limit, rules: options.rules, settle: options.settle)
            } then: { run, entries in
                run.machine.read(id, entries, at: .now)
                run.leaveOld()
            }
        case .look(let paths):
            work {
                try reader.looks(paths)
            } then: { run, sights in
                run.machine.looked(sights, at: .now)
            }
        case .identify(let id, let path):
            work {
                try reader.identity(of: path)
            } then: { run, identity in
                run.machine.identified(id, identity)
            }
        }
    }

    /// The consumer hears of what is left alone before more is read, however much of it there is.
    private func leaveOld() {
        let files = machine.takeOld()
        guard !files.isEmpty else { return }
        isStepping = true
        offers.leave(files) { [weak self] in self?.finish { _ in } }
    }

    private func work<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, then apply: @escaping @Sendable (WatchRun, Value) -> Void
    ) {
        workers.execute { [self] in
            let result = Result { try work() }
            loop.execute {
                self.finish { run in
                    switch result {
                    case .success(let value): apply(run, value)
                    case .failure(let error): run.gone(error)
                    }
                }
            }
        }
    }

    /// The folders above are watched, and the watched folder was in its place after that.
    private func watched(_ found: Set<Int32>) {
        guard !found.isSubset(of: places) else {
            places = found
            return
        }
        // Files that came into new folders before those were known are found by another look.
        places.formUnion(found)
        mustCheck = true
    }

    private func finish(_ apply: (WatchRun) -> Void) {
        isStepping = false
        guard !hasEnded else { return }
        apply(self)
        if isAdvancing { loop.execute { [weak self] in self?.advance() } } else { advance() }
    }

    private func gone(_ error: any Error) {
        guard let error = error as? FolderReader.RootGone else { return }
        lost(self, error.error)
    }

    private func began(
        _ id: FolderTree.ID, _ path: String, watches: Bool, _ outcome: Result<FolderScan, TransferError>
    ) {
        switch outcome {
        case .failure(let error): machine.failed(id, error)
        case .success(let scan):
            var beginning = WatchMachine.Beginning(
                identity: scan.identity, remoteFileSystem: scan.remoteFileSystem, watch: .none)
            if watches, inotify >= 0, scan.remoteFileSystem == nil {
                let watch = addWatch(id, path, scan.descriptor)
                beginning.watch = watch >= 0 ? .set(watch) : .refused(kernel.refusal(-watch))
            }
            self.scan = scan
            machine.began(id, beginning)
        }
    }

    /// Watches the very folder that was opened, whatever its path leads to now. This is done here, so that no event
    /// comes for a watch that isn't known.
    private func addWatch(_ id: FolderTree.ID, _ path: String, _ descriptor: Int32) -> Int32 {
        let mask = id == FolderTree.root ? InotifyEvent.mask | InotifyEvent.placeMask : InotifyEvent.mask
        var watch = kernel.add(inotify, "/proc/self/fd/\(descriptor)", mask)
        // Without /proc.
        if watch == -ENOENT { watch = kernel.add(inotify, PathText.join(reader.root, path), mask) }
        if id == FolderTree.root, watch >= 0 { rootWatch = watch }
        return watch
    }

    // MARK: The consumer

    private func offer(_ files: [FileVersion]) {
        offers.offer(files) { [weak self] handled in
            guard let self, !hasEnded else { return }
            machine.answered(handled: handled, at: .now)
            advance()
        }
    }
}
