import TransferCore

/// The dialogue of dumps, a plain value: it decides which dump to request next, and combines the replies with the
/// changes in between.
///
/// A change reported during a dump is applied again after it. The dump may be slightly older than the change, and
/// applying a change twice is harmless.
struct NetlinkDialogue: Sendable {
    struct Question: Sendable, Hashable {
        var topic: NetlinkTopic
        var sequence: UInt32
        /// The pause before the request, after earlier ones failed.
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
    /// The number of dumps completed since the state was last published.
    private var completed = 0

    /// Creates a dialogue.
    ///
    /// - Parameter port: The address of the socket that sends the requests.
    init(port: UInt32) { self.port = port }

    /// Whether the state can be published. Everything is known and no dump is due, or there have been so many dumps
    /// that waiting longer is useless.
    var isTellable: Bool {
        missing.isEmpty && (running == nil && wanted.isEmpty || completed >= 2 * NetlinkTopic.allCases.count)
    }

    /// Whether a reply is still expected.
    var isWaiting: Bool { running != nil }

    /// Records that the state was published.
    mutating func reported() {
        hasChanged = false
        completed = 0
    }

    mutating func setFacts(_ facts: LinkFacts?, of link: Int) { state.setFacts(facts, of: link) }

    /// Returns the dump to request now; `nil` where none is due or a reply is still expected.
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

    /// Records that a request could not be sent.
    mutating func failed(_ question: Question) {
        guard running?.question == question else { return }
        running = nil
        wanted.insert(question.topic)
        troubles += 1
    }

    /// Records that messages were lost.
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

    /// Ends a dump.
    ///
    /// - Parameter code: The kernel's error number. A topic unknown to the kernel counts as empty. `EINTR`, `EAGAIN`,
    ///   `ENOMEM`, `EBUSY` and `ENOBUFS` lead to another attempt.
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

    /// Records a reported change.
    private mutating func note(_ frame: NetlinkFrame) {
        if case .overrun = frame.message { return overran() }
        // Only default routes matter among thousands of routes.
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
