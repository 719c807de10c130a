/// The life of a request of any kind: pure, no I/O.
///
/// The shell tells what happened, and performs the one action that follows. An event that doesn't fit the state (a
/// second answer of an adapter, a timer of an attempt that was cancelled) has no effect.
struct RequestLifecycle: Equatable {
    /// How far the program lets it go. Nothing of one that isn't resumed reaches the network.
    enum Pace: Equatable { case initialized, resumed, suspended }

    /// A pace, and what is being done; or an end.
    enum State: Equatable {
        case active(Pace, Work)
        case cancelled(Ending)
        case finished

        static let initialized = State.active(.initialized, .notStarted)
        static func resumed(_ work: Work) -> State { .active(.resumed, work) }
        static func suspended(_ work: Work) -> State { .active(.suspended, work) }
    }

    /// What is being done, in this order; `parked`, `waitingToRetry` and `retryDue` lead back to `preparing`.
    enum Work: Equatable {
        case notStarted
        /// The URL request is made and adapted, files are opened.
        case preparing
        /// There is a task for it, which isn't resumed.
        case prepared
        /// Waits for its turn at the host.
        case queued
        case transferring
        /// The suspension lasts: the exchange was told to stop, what came is kept.
        case parking
        /// The bytes that came are kept; the next attempt continues it.
        case parked
        /// The retriers are asked.
        case deciding
        case waitingToRetry
        /// The wait is over, and a suspension holds the next attempt back.
        case retryDue
        /// Responses are serialized.
        case settling
        /// A response couldn't be serialized, and the retriers are asked.
        case reconsidering
    }

    enum Ending: Equatable {
        /// The exchange was told to stop and has not ended yet.
        case stopping
        case settling
        case over
    }

    enum Event: Equatable {
        /// The session sets its requests up as soon as they are made.
        case setUp
        case resume, suspend, cancel
        /// A response handler was added; `starts` where a session starts requests by themselves.
        case handlerAdded(starts: Bool)
        case prepared
        /// The host has room for it.
        case admitted
        /// The request has been suspended for so long that its connection is better given up.
        case suspensionExpired
        /// The attempt is over; a failure asks the retriers.
        case attemptEnded(failed: Bool)
        case retryDecided(Bool)
        case retryDue
        /// The handlers there were have their responses; `failed` when one of them couldn't be made and a retrier may
        /// be asked, `hasMore` when others were added meanwhile.
        case settled(failed: Bool, hasMore: Bool)
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
        // The request's place in the queue is given up: a suspended request must not keep others from the host.
        case .prepared, .queued: return go(.suspended(.prepared), .holdTask)
        default: return go(.suspended(work), .none)
        }
    }

    private mutating func cancel() -> Action {
        guard case .active(_, let work) = state else { return .none }
        switch work {
        case .transferring, .parking: return go(.cancelled(.stopping), .cancelTransfer)
        // The responses are being made of what came: too late to undo it.
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

    private mutating func go(_ next: State, _ action: Action) -> Action {
        state = next
        return action
    }
}

extension RequestLifecycle {
    private var work: Work? {
        if case .active(_, let work) = state { work } else { nil }
    }

    /// Whether nothing has been done for it yet.
    var isNotStarted: Bool { work == .notStarted }

    var isPreparing: Bool { work == .preparing }

    var isTransferring: Bool { work == .transferring }

    /// Whether the retriers are being asked.
    var isDeciding: Bool { work == .deciding || work == .reconsidering }
}
