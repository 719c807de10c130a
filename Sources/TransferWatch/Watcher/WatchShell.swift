import Glibc
import TransferCore
import TransferEventLoop

/// The life of a watcher: the watched folder is there and a ``WatchRun`` has it, or it's waited for.
///
/// `@unchecked Sendable`: touched on its loop only, which `EventLoop.makeTimer` and `register` hold it to.
final class WatchShell: @unchecked Sendable {
    private enum State {
        case idle
        /// Looking for the folder, on a worker.
        case seeking
        /// The folder came and went too often for another look at once; the timer has the time of the next one.
        case resting
        /// The folder is missing, and nothing is under way.
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
    /// Tells when something is mounted, of which inotify says nothing: proc_pid_mountinfo(5).
    private var mounts: Int32 = -1
    /// Whether the folder's absence has been told.
    private var isLost = false
    /// Whether the folder's presence has been told.
    private var wasFound = false
    private var mustSeekAgain = false
    /// Files that are to be looked at once the folder is there.
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
            // Only what is reported without being asked for: an error, which stands for a change.
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
        // Files are looked at when the folder is there.
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

    // MARK: Looking for the folder

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
        // The one that was told may have stopped us.
        if case .seeking = state { seek() }
    }

    /// From the beginning, with what couldn't be had before.
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
