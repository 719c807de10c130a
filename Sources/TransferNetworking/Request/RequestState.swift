import Dispatch
import Foundation
import FoundationNetworking
import TransferEngine

/// The mutable state of a request of any kind.
struct RequestState {
    /// The identifier, created on demand, as random numbers are expensive.
    lazy var id = UUID()
    var lifecycle = RequestLifecycle()
    /// The pending steps, in order.
    var steps: [RequestStep] = []
    var isPerforming = false
    /// The number of the current attempt, by which late answers to an earlier one are recognized.
    var attempt = 0
    /// The attempt whose end was reported to the monitors; -1 for none.
    var finishedAttempt = -1
    /// The attempt whose adapters have answered; their second answer has no effect.
    var adaptedAttempt = 0
    /// The prepared transfer, before it is started.
    var transfer: Transfer?
    var slot: HostSlot?
    var requests = History<URLRequest>()
    /// The URL request that is to be sent: created and adapted.
    var created: URLRequest?
    var attempts = History<AttemptRecord>()
    var error: AFError?
    /// The cause of a cancellation by the library, such as an error of a handler; `nil` for a plain cancellation.
    var cancellationCause: AFError?
    var retryCount = 0
    var retryDelay: TimeInterval = 0
    /// The number of suspensions, by which the timer of an earlier one is recognized.
    var suspensions = 0
    var handlers: [ResponseHandler] = []
    /// The handlers whose responses are serialized and not yet delivered.
    var settled: [SettledHandler] = []
    /// The closures that are called at the end of the request.
    var endObservers: [@Sendable () -> Void] = []
    var progress = ProgressObservers()
    var hooks = RequestHooks()
    var own = RequestCustomization()

    /// Notes the cancellation. Responses that were held back for a retrier are serialized again, so that every handler
    /// receives the cancellation.
    mutating func cancelled() {
        error = cancellationCause ?? .explicitlyCancelled
        handlers = settled.map(\.handler) + handlers
        settled = []
    }

    var isCancelled: Bool {
        if case .cancelled = lifecycle.state { return true }
        return false
    }

    /// Whether the session was released before the request was started.
    var lostItsSession: Bool {
        if case .sessionDeinitialized? = error { return true }
        return false
    }

    /// Whether the preparation of an attempt is to continue.
    func isWanted(_ attempt: Int) -> Bool { self.attempt == attempt && lifecycle.isPreparing }

    /// The failure of a task that never used the network.
    var unusedEnd: AFError { lostItsSession ? .sessionDeinitialized : .explicitlyCancelled }

    var isOver: Bool { lifecycle.state == .finished || lifecycle.state == .cancelled(.over) }

    /// The record of the current attempt; `nil` if it never reached the network.
    var lastAttempt: AttemptRecord? { attempts.last.flatMap { $0.attempt == attempt ? $0 : nil } }

    /// - Returns: The hooks to call; those for the first URL request only are called once.
    mutating func created(_ request: URLRequest) -> RequestHooks {
        created = request
        let hooks = hooks
        self.hooks.curl = []
        return hooks
    }

    /// The running attempt.
    var running: AttemptRecord? { attempts.last.flatMap { $0.isRunning ? $0 : nil } }

    /// The attempt that is using the network.
    var transferring: AttemptRecord? { lifecycle.isTransferring ? running : nil }
}

/// The program's settings for one request.
struct RequestCustomization {
    /// The request's own interceptors, called after the session's in the order of their addition.
    var interceptors: [any RequestInterceptor] = []
    /// The request's own monitors, called after the session's.
    var monitors: CompositeEventMonitor?
    var redirectHandler: (any RedirectHandler)?
    var cachedResponseHandler: (any CachedResponseHandler)?
    /// The credential for challenges of the request's origin.
    var credential: OwnCredential?

    /// A credential, as the program passed it and in the engine's form.
    struct OwnCredential {
        let given: URLCredential
        let challenge: ChallengeCredential
    }
}

/// A pending step.
enum RequestStep {
    case perform(RequestLifecycle.Action)
    /// Reports the task of an attempt.
    case begun(AttemptRecord)
    /// Ends the attempt before it uses the network.
    case endUnsent(AttemptRecord, AFError)
    /// Releases files that were opened too late.
    case release
    /// Reports a new public state to the monitors.
    case changed(Request.State)
}

/// A handler whose response is serialized.
struct SettledHandler: Sendable {
    let handler: ResponseHandler
    let response: SettledResponse
    /// The failure that a retrier gave as a replacement.
    var replacement: AFError?
    /// Whether the retriers have been asked about the failure.
    var isDecided = false
}
