import Glibc
import TransferCore
import TransferEventLoop

/// The life of a watcher: a ``WatchRun`` has the watched folder, or the watcher waits for it.
///
/// `@unchecked Sendable`: used only on its loop, as `EventLoop.makeTimer` and `register` require.
final class WatchShell: @unchecked Sendable {
    private enum State {
        case idle
        /// A worker searches for the folder.
        case seeking
        /// The folder was lost too often for another search at once; the timer has the time of the next.
        case resting
        /// The folder is missing, and no search is under way.
        case missing(RootFinder.Missing)
        case watching(WatchRun)
        case stopped
    }

    let loop: EventLoop
    private let root: String
    private let options: FolderWatcher.Options
    private let kernel: WatchKernel
    private let workers: WorkerPool
    private let offers: WatchOffers
    private let events: @Sendable (WatchEvent) -> Void

    private var state = State.idle
    private var pace: RescanPace
    private var timer: LoopTimer?
    /// The descriptor that reports mounts, which inotify does not: proc_pid_mountinfo(5).
    private var mounts: Int32 = -1
    /// Whether the folder's absence has been reported.
    private var isLost = false
    /// Whether the folder's presence has been reported.
    private var wasFound = false
    private var mustSeekAgain = false
    /// The files to look at once the folder is there.
    private var awaited: [String] = []

    init(
        root: String, options: FolderWatcher.Options, kernel: WatchKernel, loop: EventLoop, workers: WorkerPool,
        consumer: any WatchConsumer, events: @escaping @Sendable (WatchEvent) -> Void
    ) {
        self.root = root
        self.options = options
        self.kernel = kernel
        self.loop = loop
        self.workers = workers
        offers = WatchOffers(consumer, loop: loop)
        pace = RescanPace(longest: options.pollInterval)
        self.events = events
    }

    deinit {
        if mounts >= 0 { close(mounts) }
        if case .missing(let missing) = state, missing.inotify >= 0 { close(missing.inotify) }
    }

    func start() {
        guard case .idle = state else { return }
        timer = loop.makeTimer { [weak self] in self?.wake() }
        if !options.polls {
            mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
            // An error is always reported, without being requested, and means a change.
            if mounts >= 0 { loop.register(mounts, for: []) { [weak self] _ in self?.mountsChanged() } }
        }
        seek()
    }

    func stop() {
        endWaiting()
        if case .watching(let run) = state { run.end() }
        state = .stopped
        if let timer { loop.remove(timer) }
        timer = nil
        if mounts >= 0 {
            loop.unregister(mounts)
            close(mounts)
        }
        mounts = -1
    }

    func proceed() { if case .watching(let run) = state { run.proceed() } }

    func look(at paths: [String]) {
        // Files are looked at once the folder is there.
        if case .watching(let run) = state { run.look(at: paths) } else { awaited += paths }
    }

    func rescan() { if case .watching(let run) = state { run.rescan() } else { wake() } }

    func withMachine<Value>(_ body: (inout WatchMachine) -> Value) -> Value? {
        guard case .watching(let run) = state else { return nil }
        return run.withMachine(body)
    }

    private func wake() {
        switch state {
        case .missing, .resting: seek()
        case .watching(let run): run.advance()
        case .idle, .seeking, .stopped: break
        }
    }

    private func mountsChanged() {
        switch state {
        case .missing: seek()
        case .seeking: mustSeekAgain = true
        case .watching(let run): run.check()
        case .idle, .resting, .stopped: break
        }
    }

    // MARK: The search for the folder

    private func seek() {
        endWaiting()
        let now = MonotonicTime.now
        let due = pace.due(at: now)
        guard due <= now else {
            state = .resting
            timer?.schedule(at: due)
            return
        }
        pace.looked(at: now)
        state = .seeking
        mustSeekAgain = false
        workers.execute { [self, root, kernel] in
            let outcome = RootFinder.find(root, kernel: kernel, usesInotify: !options.polls)
            if !loop.execute({ self.sought(outcome) }) { Self.drop(outcome) }
        }
    }

    private func sought(_ outcome: RootFinder.Outcome) {
        guard case .seeking = state else { return Self.drop(outcome) }
        switch outcome {
        case .found(let found): watch(found)
        case .missing(let missing): waitFor(missing)
        }
    }

    private static func drop(_ outcome: RootFinder.Outcome) {
        let inotify =
            switch outcome {
            case .found(let found): found.inotify
            case .missing(let missing): missing.inotify
            }
        if inotify >= 0 { close(inotify) }
    }

    private func watch(_ found: RootFinder.Found) {
        let run = WatchRun(
            found, options: options, kernel: kernel, loop: loop, workers: workers, offers: offers, events: events)
        run.lost = { [weak self] run, error in self?.lost(run, error) }
        run.regained = { [weak self] run in self?.restart(run) }
        run.wakes = { [weak self] time in
            if let time { self?.timer?.schedule(at: time) } else { self?.timer?.cancel() }
        }
        state = .watching(run)
        if isLost {
            isLost = false
            events(.rootReturned)
        } else if !wasFound {
            events(.rootFound)
        }
        wasFound = true
        run.start()
        if !awaited.isEmpty { run.look(at: exchange(&awaited, with: [])) }
        if mustSeekAgain { run.check() }
    }

    private func waitFor(_ missing: RootFinder.Missing) {
        state = .missing(missing)
        tellLost(missing.error)
        guard case .missing = state else { return }
        if mustSeekAgain { return seek() }
        timer?.schedule(at: .now + options.pollInterval)
        guard missing.inotify >= 0 else { return }
        loop.register(missing.inotify, for: .readable) { [weak self] _ in self?.readWhileMissing(missing) }
    }

    private func readWhileMissing(_ missing: RootFinder.Missing) {
        let events = InotifyQueue.read(missing.inotify)
        let concerns = events.contains { event in
            guard case .text(let name) = event.name else { return true }
            return missing.awaited == nil || name == missing.awaited
        }
        if concerns { seek() }
    }

    private func lost(_ run: WatchRun, _ error: TransferError) {
        guard case .watching(let current) = state, current === run else { return }
        run.end()
        state = .seeking
        tellLost(error)
        // The receiver of the report may have stopped the watcher.
        if case .seeking = state { seek() }
    }

    /// Starts over, with the event queue that was refused before.
    private func restart(_ run: WatchRun) {
        guard case .watching(let current) = state, current === run else { return }
        run.end()
        seek()
    }

    private func tellLost(_ error: TransferError) {
        guard !isLost else { return }
        isLost = true
        events(.rootLost(error))
    }

    private func endWaiting() {
        timer?.cancel()
        guard case .missing(let missing) = state, missing.inotify >= 0 else { return }
        loop.unregister(missing.inotify)
        close(missing.inotify)
        state = .seeking
    }
}
