import TransferCore
import TransferEventLoop
import TransferQueue
import TransferWatch

/// What is told to the manager of a service of `Type=notify` (systemd): that it's up, a line of how it stands at most
/// once a second, signs of life from the queue's thread, and that it reads its file again or ends.
///
/// `@unchecked Sendable`: the variables are touched on the loop only.
final class ServiceManager: @unchecked Sendable {
    private let notify: SystemdNotify
    private let loop: EventLoop
    private let watchdog: SystemdWatchdog?
    /// Makes the line; an empty one isn't sent.
    private let status: @Sendable () -> String
    private var timer: LoopTimer?
    private var last = ""
    private var hasNews = false
    /// Folders that have not told yet whether they are there; the service is up when all have.
    private var silent: Set<String>
    /// Whether it can be asked to end in order.
    private var isRunning = false
    private var isReady = false
    private var isEnding = false

    /// - Parameter folders: What is watched from the start; none for a service that has only jobs.
    /// - Returns: `nil` when no manager listens.
    init?(_ queue: JobQueue, folders: [String], status: @escaping @Sendable () -> String) {
        guard let notify = SystemdNotify(environment: Composition.environment),
            let loop = try? EventLoop(name: "service")
        else { return nil }
        self.notify = notify
        self.loop = loop
        self.status = status
        silent = Set(folders)
        watchdog = queue.watchdog(notify)
    }

    func receive(_ notice: WatchNotice) {
        loop.execute { [self] in
            switch notice.kind {
            case .reported(.watch(.rootFound)), .reported(.watch(.rootLost)), .ended: heard(notice.folder)
            default: break
            }
            noteNews()
        }
    }

    /// Something happened to the queue.
    func receive(_ event: QueueEvent) {
        // All others change nothing that the line tells, and come by the thousand.
        guard event.kind.isAboutBatch || event.kind.isEnd else { return }
        loop.execute { [self] in noteNews() }
    }

    /// From now on a signal ends the service in order, so that it may be said to be up.
    func running() {
        loop.execute { [self] in
            isRunning = true
            beReady()
        }
    }

    func reloading() { loop.execute { [self] in if isReady { notify.send(.reloading(at: .awake)) } } }

    /// What was to be read again has been, or was faulty and is as it was.
    func reloaded() { loop.execute { [self] in if isReady { notify.send(.ready) } } }

    func stopping() {
        loop.execute { [self] in
            guard !isEnding else { return }
            isEnding = true
            notify.send(.stopping, .status("stopping"))
        }
    }

    /// Returns when everything has been sent.
    func close() async {
        watchdog?.stop()
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                if let timer { loop.remove(timer) }
                continuation.resume()
            }
        }
        loop.stop()
    }

    private func heard(_ folder: String) {
        silent.remove(folder)
        beReady()
    }

    private func beReady() {
        guard isRunning, silent.isEmpty, !isReady else { return }
        isReady = true
        last = status()
        if last.isEmpty { notify.send(.ready) } else { notify.send(.ready, .status(last)) }
    }

    private func noteNews() {
        guard isReady, !isEnding else { return }
        hasNews = true
        let timer = timer ?? loop.makeTimer { [weak self] in self?.tell() }
        self.timer = timer
        guard !timer.isScheduled else { return }
        tell()
    }

    /// At once, and then at most once a second.
    private func tell() {
        guard hasNews, !isEnding else { return }
        hasNews = false
        let line = status()
        if line != last {
            last = line
            notify.send(.status(line))
        }
        timer?.schedule(at: .now + .seconds(1))
    }
}
