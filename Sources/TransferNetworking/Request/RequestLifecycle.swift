/// The life of a request of any kind: pure, no I/O.
///
/// The shell tells what happened, and performs the one action that follows. An event that doesn't fit the state (a
/// second answer of an adapter, a timer of an attempt that was cancelled) has no effect.
struct RequestLifecycle: Equatable {
    /// `initialized` → `resumed` ⇄ `suspended` → `finished`; `cancelled` from each of the first three.
    enum State: Equatable {
        case initialized
        case resumed(Work)
        case suspended(Work)
        case cancelled(Ending)
        case finished
    }

    /// What is being done, in this order; `parked`, `waitingToRetry` and `retryDue` lead back to `preparing`.
    enum Work: Equatable {
        case notStarted
        /// The URL request is made and adapted, files are opened.
        case preparing
        /// Ready, and held back by a suspension.
        case prepared
        /// Waits for its turn at the host.
        case queued
        case transferring
        /// The suspension lasts: the exchange was told to stop, what came is kept.
        case parking
        /// What came is kept; the next attempt continues it.
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
        case resume, suspend, cancel
        /// A response handler was added; `starts` where a session starts requests by themselves.
        case handlerAdded(starts: Bool)
        case prepared
        /// The host has room for it.
        case admitted
        /// It has been suspended for so long that its connection is better given up.
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
        case none, prepare, enterQueue, startTransfer, suspendTransfer, resumeTransfer, cancelTransfer, askRetriers
        case awaitRetry, settle, reconsider, conclude, deliver
    }

    private(set) var state = State.initialized

    mutating func handle(_ event: Event) -> Action {
        switch event {
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

    private mutating func resume() -> Action {
        switch state {
        case .initialized: return go(.resumed(.preparing), .prepare)
        case .suspended(.notStarted), .suspended(.retryDue), .suspended(.parked):
            return go(.resumed(.preparing), .prepare)
        case .suspended(.prepared): return go(.resumed(.queued), .enterQueue)
        case .suspended(.transferring): return go(.resumed(.transferring), .resumeTransfer)
        case .suspended(let work): return go(.resumed(work), .none)
        case .resumed, .cancelled, .finished: return .none
        }
    }

    private mutating func suspend() -> Action {
        switch state {
        case .initialized: go(.suspended(.notStarted), .none)
        case .resumed(.transferring): go(.suspended(.transferring), .suspendTransfer)
        // Its place in the queue is given up: a suspended request must not keep others from the host.
        case .resumed(.queued): go(.suspended(.prepared), .none)
        case .resumed(let work): go(.suspended(work), .none)
        case .suspended, .cancelled, .finished: .none
        }
    }

    private mutating func cancel() -> Action {
        switch state {
        case .initialized: return go(.cancelled(.settling), .settle)
        case .resumed(let work), .suspended(let work):
            switch work {
            case .transferring, .parking: return go(.cancelled(.stopping), .cancelTransfer)
            // The responses are being made of what came: too late to undo it.
            case .settling: return .none
            default: return go(.cancelled(.settling), .settle)
            }
        case .cancelled, .finished: return .none
        }
    }

    private mutating func handlerAdded(_ starts: Bool) -> Action {
        switch state {
        case .initialized where starts: go(.resumed(.preparing), .prepare)
        case .finished: go(.resumed(.settling), .settle)
        case .cancelled(.over): go(.cancelled(.settling), .settle)
        default: .none
        }
    }

    private mutating func prepared() -> Action {
        switch state {
        case .resumed(.preparing): go(.resumed(.queued), .enterQueue)
        case .suspended(.preparing): go(.suspended(.prepared), .none)
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
        case .resumed(.parking) where failed: go(.resumed(.preparing), .prepare)
        case .suspended(.parking) where failed: go(.suspended(.parked), .none)
        case .resumed(.preparing), .resumed(.transferring), .resumed(.parking):
            failed ? go(.resumed(.deciding), .askRetriers) : go(.resumed(.settling), .settle)
        case .suspended(.preparing), .suspended(.transferring), .suspended(.parking):
            failed ? go(.suspended(.deciding), .askRetriers) : go(.suspended(.settling), .settle)
        case .cancelled(.stopping): go(.cancelled(.settling), .settle)
        default: .none
        }
    }

    private mutating func retryDecided(_ isRetried: Bool) -> Action {
        switch state {
        case .resumed(.deciding):
            isRetried ? go(.resumed(.waitingToRetry), .awaitRetry) : go(.resumed(.settling), .settle)
        case .suspended(.deciding):
            isRetried ? go(.suspended(.waitingToRetry), .awaitRetry) : go(.suspended(.settling), .settle)
        case .resumed(.reconsidering):
            isRetried ? go(.resumed(.waitingToRetry), .awaitRetry) : go(.resumed(.settling), .conclude)
        case .suspended(.reconsidering):
            isRetried ? go(.suspended(.waitingToRetry), .awaitRetry) : go(.suspended(.settling), .conclude)
        default: .none
        }
    }

    private mutating func retryDue() -> Action {
        switch state {
        case .resumed(.waitingToRetry): go(.resumed(.preparing), .prepare)
        case .suspended(.waitingToRetry): go(.suspended(.retryDue), .none)
        default: .none
        }
    }

    private mutating func settled(_ failed: Bool, _ hasMore: Bool) -> Action {
        switch state {
        case .resumed(.settling) where failed: go(.resumed(.reconsidering), .reconsider)
        case .suspended(.settling) where failed: go(.suspended(.reconsidering), .reconsider)
        case .resumed(.settling), .suspended(.settling): hasMore ? .settle : go(.finished, .deliver)
        case .cancelled(.settling): hasMore ? .settle : go(.cancelled(.over), .deliver)
        default: .none
        }
    }

    private mutating func go(_ next: State, _ action: Action) -> Action {
        state = next
        return action
    }
}
