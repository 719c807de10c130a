import TransferCore
import TransferEventLoop

/// The shell of a ``NetlinkDialogue``: a socket on an event loop.
///
/// `@unchecked Sendable`: touched on its loop only, which `EventLoop.register` holds it to, from `start` to `end`.
final class NetworkWatcher: @unchecked Sendable {
    private let loop: EventLoop
    private let options: NetworkMonitor.Options
    private let tell: @Sendable (NetworkSnapshot) -> Void
    private let socket: NetlinkSocket
    private var dialogue: NetlinkDialogue
    private var manager: NetworkManagerWatch?
    private var managed = ManagedNetwork()
    private var hasEnded = false

    /// Puts a question again after a pause.
    private var questionTimer: LoopTimer?
    private var waiting: NetlinkDialogue.Question?
    /// Tells the rest of a burst.
    private var tellTimer: LoopTimer?
    private var lastReported: MonotonicTime?
    private var lastSnapshot: NetworkSnapshot?

    /// One change is told at once; what follows within this time is told together, so that a burst costs a few
    /// snapshots, however long it is.
    private static let shortest = Duration.milliseconds(10)
    /// Longer where a snapshot takes long, so that most of the time is left for reading.
    private var interval = shortest
    /// Datagrams for one turn of the loop, so that others on it have theirs.
    private static let datagramsPerTurn = 64

    /// - Returns: `nil` where there is no netlink.
    init?(
        loop: EventLoop, options: NetworkMonitor.Options, tell: @escaping @Sendable (NetworkSnapshot) -> Void
    ) {
        guard let socket = NetlinkSocket(receiveBuffer: options.receiveBuffer), socket.subscribe() else { return nil }
        self.loop = loop
        self.options = options
        self.tell = tell
        self.socket = socket
        dialogue = NetlinkDialogue(port: socket.port)
    }

    func start() {
        guard !hasEnded else { return }
        questionTimer = loop.makeTimer { [weak self] in self?.putWaiting() }
        tellTimer = loop.makeTimer { [weak self] in self?.tellIfChanged() }
        loop.register(socket.descriptor, for: .readable) { [self] _ in read() }
        findManager()
        ask()
    }

    /// Where the bus has gone, or comes later than we do, it's looked for when the network changes.
    private func findManager() {
        guard options.usesNetworkManager, manager?.hasEnded != false else { return }
        manager = NetworkManagerWatch(loop: loop) { [weak self] managed in self?.take(managed) }
    }

    /// Nothing is told afterwards.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        loop.unregister(socket.descriptor)
        for timer in [questionTimer, tellTimer] { if let timer { loop.remove(timer) } }
        (questionTimer, tellTimer) = (nil, nil)
        manager?.end()
        manager = nil
    }

    private func read() {
        for _ in 0..<Self.datagramsPerTurn {
            switch socket.receive() {
            case .frames(let frames): for frame in frames { dialogue.take(frame) }
            case .overrun: dialogue.overran()
            case .nothing: return settle()
            case .failed:
                end()
                return tell(.unknown)
            }
        }
        // There may be more, which the loop finds; questions needn't wait for it. Nor do observers for ever.
        ask()
        if let lastReported, MonotonicTime.now - lastReported > interval * 10 { tellIfChanged() }
    }

    private func settle() {
        ask()
        tellSoon()
    }

    private func ask() {
        guard waiting == nil, let question = dialogue.next() else { return }
        guard question.pause > .zero else { return put(question) }
        waiting = question
        questionTimer?.schedule(at: .now + question.pause)
    }

    private func putWaiting() {
        guard let question = waiting else { return }
        waiting = nil
        put(question)
    }

    private func put(_ question: NetlinkDialogue.Question) {
        guard !socket.send(.dump(question.topic, sequence: question.sequence)) else { return }
        dialogue.failed(question)
        ask()
    }

    private func take(_ managed: ManagedNetwork) {
        guard managed != self.managed else { return }
        self.managed = managed
        if dialogue.isTellable { tellSnapshot() }
    }

    private func tellSoon() {
        guard dialogue.isTellable, dialogue.hasChanged else { return }
        if let lastReported, MonotonicTime.now - lastReported < interval {
            if tellTimer?.isScheduled == false { tellTimer?.schedule(at: lastReported + interval) }
        } else {
            tellIfChanged()
        }
    }

    private func tellIfChanged() {
        // When a dump has begun since, its end tells.
        guard dialogue.isTellable, dialogue.hasChanged else { return }
        tellSnapshot()
    }

    private func tellSnapshot() {
        for link in dialogue.state.linksWithoutFacts {
            dialogue.setFacts(LinkFacts.read(root: options.sysfs, name: link.name, index: link.index), of: link.index)
        }
        dialogue.reported()
        let begin = MonotonicTime.now
        let snapshot = dialogue.state.snapshot(rule: options.meteredRule, managed: managed)
        guard snapshot != lastSnapshot else { return }
        lastSnapshot = snapshot
        tell(snapshot)
        let end = MonotonicTime.now
        lastReported = end
        interval = max(Self.shortest, (end - begin) * 4)
        findManager()
    }
}

extension NetworkSnapshot {
    /// The kernel's tables now, asked for at once and on the caller's thread; NetworkManager isn't asked.
    ///
    /// - Returns: `nil` where there is no netlink, or no answer within a second.
    static func ofKernel(_ options: NetworkMonitor.Options) -> NetworkSnapshot? {
        guard let socket = NetlinkSocket() else { return nil }
        var dialogue = NetlinkDialogue(port: socket.port)
        var questions = 0
        while !dialogue.isTellable, let question = dialogue.next() {
            questions += 1
            // A table that goes on changing is taken as it is.
            guard questions < 30, socket.send(.dump(question.topic, sequence: question.sequence)) else {
                return nil
            }
            while dialogue.isWaiting {
                switch socket.receive(within: 1000) {
                case .frames(let frames): for frame in frames { dialogue.take(frame) }
                case .overrun: dialogue.overran()
                case .nothing, .failed: return nil
                }
            }
        }
        for link in dialogue.state.linksWithoutFacts {
            dialogue.setFacts(LinkFacts.read(root: options.sysfs, name: link.name, index: link.index), of: link.index)
        }
        return dialogue.state.snapshot(rule: options.meteredRule, managed: ManagedNetwork())
    }
}
