/// The life cycle of a request of any kind: pure, no I/O.
///
/// The caller passes events and performs the action that each returns. An event that does not fit the state has no
/// effect, such as an adapter's second answer or the timer of a cancelled attempt.
struct RequestLifecycle: Equatable {
    /// The pace that the program has set. Only a resumed request uses the network.
    enum Pace: Equatable { case initialized, resumed, suspended }

    /// The state: a pace and the current work, or an end.
    enum State: Equatable {
        case active(Pace, Work)
        case cancelled(Ending)
        case finished

        static let initialized = State.active(.initialized, .notStarted)
        static func resumed(_ work: Work) -> State { .active(.resumed, work) }
        static func suspended(_ work: Work) -> State { .active(.suspended, work) }
    }

    /// The current work, in this order. `parked`, `waitingToRetry` and `retryDue` lead back to `preparing`.
    enum Work: Equatable {
        case notStarted
        /// The URL request is created and adapted, and files are opened.
        case preparing
        /// The attempt has a task, which is not resumed.
        case prepared
        /// The attempt waits for a slot of its host.
        case queued
        case transferring
        /// The suspension lasts long: the exchange is being stopped, and its bytes are kept.
        case parking
        /// The received bytes are kept, and the next attempt continues them.
        case parked
        /// The retriers are asked.
        case deciding
        case waitingToRetry
        /// The delay is over, but the request is suspended.
        case retryDue
        /// The responses are serialized.
        case settling
        /// The retriers are asked about a response that could not be serialized.
        case reconsidering
    }

    enum Ending: Equatable {
        /// The exchange is being stopped and has not ended yet.
        case stopping
        case settling
        case over
    }

    enum Event: Equatable {
        /// The session prepares its requests as soon as they are created.
        case setUp
        case resume, suspend, cancel
        /// A response handler was added; `starts` where that starts the request.
        case handlerAdded(starts: Bool)
        case prepared
        /// The host has a slot for the attempt.
        case admitted
        /// The request has been suspended so long that its connection should be closed.
        case suspensionExpired
        /// The attempt has ended; the retriers are asked about a failure.
        case attemptEnded(failed: Bool)
        case retryDecided(Bool)
        case retryDue
        /// The responses were serialized. `failed` means that one could not be serialized and a retrier may be asked.
        /// `hasMore` means that handlers were added meanwhile.
        case settled(failed: Bool, hasMore: Bool)
        /// The session was released before the request was started.
        case sessionReleased
    }

    enum Action: Equatable {
        case none, prepare, holdTask, enterQueue, startTransfer, suspendTransfer, resumeTransfer, cancelTransfer
        case askRetriers, awaitRetry, settle, reconsider, conclude, deliver
    }

    private(set) var state = State.initialized

    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .setUp: setUp()
        case .resume: resume()
        case .suspend: suspend()
        case .cancel: cancel()
        case .handlerAdded(let starts): handlerAdded(starts)
        case .prepared: prepared()
        case .admitted: admitted()
        case .suspensionExpired: suspensionExpired()
        case .attemptEnded(let failed): attemptEnded(failed)
        case .retryDecided(let isRetried): retryDecided(isRetried)
        case .retryDue: retryDue()
        case .settled(let failed, let hasMore): settled(failed, hasMore)
        case .sessionReleased: sessionReleased()
        }
    }

    private mutating func setUp() -> Action {
        state == .initialized ? go(.active(.initialized, .preparing), .prepare) : .none
    }

    private mutating func resume() -> Action {
        guard case .active(let pace, let work) = state, pace != .resumed else { return .none }
        switch work {
        case .notStarted, .retryDue, .parked: return go(.resumed(.preparing), .prepare)
        case .prepared: return go(.resumed(.queued), .enterQueue)
        case .transferring: return go(.resumed(.transferring), .resumeTransfer)
        default: return go(.resumed(work), .none)
        }
    }

    private mutating func suspend() -> Action {
        guard case .active(let pace, let work) = state, pace != .suspended else { return .none }
        switch work {
        case .transferring: return go(.suspended(.transferring), .suspendTransfer)
        // The place in the queue is given up, as a suspended request must not block others at the host.
        case .prepared, .queued: return go(.suspended(.prepared), .holdTask)
        default: return go(.suspended(work), .none)
        }
    }

    private mutating func cancel() -> Action {
        guard case .active(_, let work) = state else { return .none }
        switch work {
        case .transferring, .parking: return go(.cancelled(.stopping), .cancelTransfer)
        // The responses are being serialized, which is too late for a cancellation.
        case .settling: return .none
        default: return go(.cancelled(.settling), .settle)
        }
    }

    private mutating func handlerAdded(_ starts: Bool) -> Action {
        switch state {
        case .active(.initialized, _) where starts: resume()
        case .finished: go(.resumed(.settling), .settle)
        case .cancelled(.over): go(.cancelled(.settling), .settle)
        default: .none
        }
    }

    private mutating func prepared() -> Action {
        switch state {
        case .active(.resumed, .preparing): go(.resumed(.queued), .enterQueue)
        case .active(.suspended, .preparing): go(.suspended(.prepared), .holdTask)
        case .active(.initialized, .preparing): go(.active(.initialized, .prepared), .none)
        default: .none
        }
    }

    private mutating func admitted() -> Action {
        state == .resumed(.queued) ? go(.resumed(.transferring), .startTransfer) : .none
    }

    private mutating func suspensionExpired() -> Action {
        state == .suspended(.transferring) ? go(.suspended(.parking), .cancelTransfer) : .none
    }

    private mutating func attemptEnded(_ failed: Bool) -> Action {
        switch state {
        case .active(.resumed, .parking) where failed: go(.resumed(.preparing), .prepare)
        case .active(let pace, .parking) where failed: go(.active(pace, .parked), .none)
        case .active(let pace, .preparing), .active(let pace, .transferring), .active(let pace, .parking):
            failed ? go(.active(pace, .deciding), .askRetriers) : go(.active(pace, .settling), .settle)
        case .cancelled(.stopping): go(.cancelled(.settling), .settle)
        default: .none
        }
    }

    private mutating func retryDecided(_ isRetried: Bool) -> Action {
        switch state {
        case .active(let pace, .deciding):
            isRetried ? go(.active(pace, .waitingToRetry), .awaitRetry) : go(.active(pace, .settling), .settle)
        case .active(let pace, .reconsidering):
            isRetried ? go(.active(pace, .waitingToRetry), .awaitRetry) : go(.active(pace, .settling), .conclude)
        default: .none
        }
    }

    private mutating func retryDue() -> Action {
        switch state {
        case .active(.suspended, .waitingToRetry): go(.suspended(.retryDue), .none)
        case .active(let pace, .waitingToRetry): go(.active(pace, .preparing), .prepare)
        default: .none
        }
    }

    private mutating func settled(_ failed: Bool, _ hasMore: Bool) -> Action {
        switch state {
        case .active(let pace, .settling) where failed: go(.active(pace, .reconsidering), .reconsider)
        case .active(_, .settling): hasMore ? .settle : go(.finished, .deliver)
        case .cancelled(.settling): hasMore ? .settle : go(.cancelled(.over), .deliver)
        default: .none
        }
    }

    private mutating func sessionReleased() -> Action {
        guard case .active(let pace, _) = state, isReadyToStart else { return .none }
        return go(.active(pace, .settling), .settle)
    }

    private mutating func go(_ next: State, _ action: Action) -> Action {
        state = next
        return action
    }
}

extension RequestLifecycle {
    private var work: Work? {
        if case .active(_, let work) = state { work } else { nil }
    }

    /// Whether no work has begun.
    var isNotStarted: Bool { work == .notStarted }

    var isPreparing: Bool { work == .preparing }

    var isTransferring: Bool { work == .transferring }

    /// Whether the request was prepared, or is being prepared, and does not run.
    var isReadyToStart: Bool {
        guard case .active(let pace, let work) = state, pace != .resumed else { return false }
        return [.preparing, .prepared, .deciding, .waitingToRetry, .retryDue].contains(work)
    }

    /// Whether the retriers are being asked.
    var isDeciding: Bool { work == .deciding || work == .reconsidering }
}
