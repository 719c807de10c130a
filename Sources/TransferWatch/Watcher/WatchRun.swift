import Glibc
import TransferCore
import TransferEventLoop

/// The shell of a ``WatchMachine``, from the discovery of the watched folder to its loss.
///
/// `@unchecked Sendable`: used only on its loop; steps carry values to a worker and back.
final class WatchRun: @unchecked Sendable {
    private let reader: FolderReader
    private let options: WatchMachine.Options
    private let kernel: WatchKernel
    private let loop: EventLoop
    private let workers: WorkerPool
    private let offers: WatchOffers
    private let events: @Sendable (WatchEvent) -> Void

    /// The function that is called when the watched folder is no longer there.
    var lost: (WatchRun, TransferError) -> Void = { _, _ in }
    /// The function that is called when the kernel gives the event queue that it had refused.
    var regained: (WatchRun) -> Void = { _ in }
    /// The function that sets the time at which `advance()` must be called; an earlier setting is void.
    var wakes: (MonotonicTime?) -> Void = { _ in }

    private var machine: WatchMachine
    private let inotify: Int32
    /// The watches of the folders and links on the path to the watched folder.
    private var places: Set<Int32>
    private var rootWatch: Int32?
    private var scan: FolderScan?
    private var isStepping = false
    /// Whether the folder's place must be checked. This is so at first, because the folder may have been replaced
    /// before its place was watched.
    private var mustCheck = true
    private var isAdvancing = false
    private var hasEnded = false
    /// The time to request a refused event queue again.
    private var retry: MonotonicTime?

    /// The most reads of the queue in one turn of the loop, so that its other users get their turns.
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

    /// Checks whether the watched folder is still at its path.
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

    /// Performs the actions that are due, and schedules the next call.
    func advance() {
        // Callbacks may call this function again.
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
        // A step that is under way returns here.
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

    /// Starts a step.
    ///
    /// - Parameter step: The step; `nil` to check whether the watched folder is there.
    private func perform(_ step: WatchMachine.Step?) {
        isStepping = true
        let reader = reader
        switch step {
        case nil:
            mustCheck = false
            work { [inotify, kernel] in
                // A link or folder on the path may have been replaced by one that leads to the same place.
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
                // The folder vanished meanwhile, and the machine drops it with this answer.
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

    /// Reports ignored files to the consumer before more is read, to bound their number.
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

    /// Takes the watches of the path, which were set before the watched folder was found in its place.
    private func watched(_ found: Set<Int32>) {
        guard !found.isSubset(of: places) else {
            places = found
            return
        }
        // Changes in newly watched folders before their watches are found by another check.
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

    /// Watches the very folder that was opened, whatever its path leads to now. This runs on the loop, so that no event
    /// arrives for an unknown watch.
    private func addWatch(_ id: FolderTree.ID, _ path: String, _ descriptor: Int32) -> Int32 {
        let mask = id == FolderTree.root ? InotifyEvent.mask | InotifyEvent.placeMask : InotifyEvent.mask
        var watch = kernel.add(inotify, "/proc/self/fd/\(descriptor)", mask)
        // The fallback without /proc.
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
