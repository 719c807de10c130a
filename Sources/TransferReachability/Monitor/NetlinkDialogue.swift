import TransferCore

/// The dialogue of dumps: which one to ask for next, and what the answers and the changes in between amount to: a pure
/// value.
///
/// A change that is told while a dump is under way is applied after it once more: a dump may be older than that by a
/// moment, and to say again what is true does no harm.
struct NetlinkDialogue: Sendable {
    struct Question: Sendable, Hashable {
        var topic: NetlinkTopic
        var sequence: UInt32
        /// After a pause, when questions went wrong before.
        var pause: Duration
    }

    private struct Running {
        var question: Question
        var found: [NetlinkFrame] = []
        var reported: [NetlinkFrame] = []
        var isInterrupted = false
    }

    private(set) var state = NetworkState()
    private(set) var hasChanged = true
    private let port: UInt32
    private var wanted = Set(NetlinkTopic.allCases)
    private var missing = Set(NetlinkTopic.allCases)
    private var running: Running?
    private var lastSequence: UInt32 = 0
    private var troubles = 0
    /// Since the state was taken.
    private var completed = 0

    /// - Parameter port: The address of the socket that asks.
    init(port: UInt32) { self.port = port }

    /// Whether everything is known and no dump is due, or there have been so many that it's time to tell all the same.
    var isTellable: Bool {
        missing.isEmpty && (running == nil && wanted.isEmpty || completed >= 2 * NetlinkTopic.allCases.count)
    }

    /// Whether an answer is still to come.
    var isWaiting: Bool { running != nil }

    /// Takes note that the state was told.
    mutating func reported() {
        hasChanged = false
        completed = 0
    }

    mutating func setFacts(_ facts: LinkFacts?, of link: Int) { state.setFacts(facts, of: link) }

    /// The dump to ask for now; `nil` when nothing is due or an answer is still to come.
    mutating func next() -> Question? {
        guard running == nil, let topic = NetlinkTopic.allCases.first(where: wanted.contains) else { return nil }
        wanted.remove(topic)
        lastSequence &+= 1
        if lastSequence == 0 { lastSequence = 1 }
        let pause = troubles == 0 ? .zero : Duration.milliseconds(5 << min(troubles - 1, 6))
        let question = Question(topic: topic, sequence: lastSequence, pause: pause)
        running = Running(question: question)
        return question
    }

    /// The question couldn't be put.
    mutating func failed(_ question: Question) {
        guard running?.question == question else { return }
        running = nil
        wanted.insert(question.topic)
        troubles += 1
    }

    /// Messages were lost.
    mutating func overran() {
        wanted = Set(NetlinkTopic.allCases)
        running?.isInterrupted = true
        troubles += 1
    }

    mutating func take(_ frame: NetlinkFrame) {
        if let question = running?.question, frame.sequence == question.sequence, frame.port == port {
            answer(frame)
        } else if frame.sequence == 0 || frame.port != port {
            note(frame)
        }
    }

    private mutating func answer(_ frame: NetlinkFrame) {
        if frame.isInterrupted { running?.isInterrupted = true }
        switch frame.message {
        case .done(let code): finish(code)
        case .error(let code): finish(code)
        case .route(let route, _) where !route.isDefault: break
        default: running?.found.append(frame)
        }
    }

    /// - Parameter code: Of the kernel's refusal: a topic that it knows nothing of has nothing in it. `EINTR`, `EAGAIN`,
    ///   `ENOMEM`, `EBUSY` and `ENOBUFS` ask for another try.
    private mutating func finish(_ code: Int32) {
        guard let ended = running else { return }
        running = nil
        completed += 1
        let topic = ended.question.topic
        if ended.isInterrupted || [4, 11, 12, 16, 105].contains(code) {
            wanted.insert(topic)
            troubles += 1
        } else if wanted.isEmpty {
            troubles = 0
        }
        if state.replace(topic, with: ended.found) { hasChanged = true }
        missing.remove(topic)
        for frame in ended.reported { apply(frame) }
    }

    /// A change that was told.
    private mutating func note(_ frame: NetlinkFrame) {
        if case .overrun = frame.message { return overran() }
        // Only default routes matter, of thousands.
        if case .route(let route, _) = frame.message, !route.isDefault { return }
        if running?.question.topic.contains(frame.message) == true { running?.reported.append(frame) }
        apply(frame)
    }

    private mutating func apply(_ frame: NetlinkFrame) {
        let outcome = state.apply(frame)
        if outcome.changed { hasChanged = true }
        wanted.formUnion(outcome.doubts)
    }
}
