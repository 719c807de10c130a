import Dispatch
import Foundation
import FoundationNetworking
import TransferEngine

/// What a request of any kind remembers.
struct RequestState {
    /// Made when somebody asks: random numbers have their price.
    lazy var id = UUID()
    var lifecycle = RequestLifecycle()
    /// What is to be done, in order, by whoever is at it.
    var steps: [RequestStep] = []
    var isPerforming = false
    /// Counts the attempts, so that answers to an earlier one are told apart.
    var attempt = 0
    /// The attempt whose adapters have answered: a second answer of theirs doesn't count.
    var adaptedAttempt = 0
    /// Ready to be started.
    var transfer: Transfer?
    var slot: HostSlot?
    var requests = History<URLRequest>()
    /// The one of `requests` that is to be sent: made and adapted.
    var created: URLRequest?
    var attempts = History<AttemptRecord>()
    var error: AFError?
    /// Why the program's own code has it cancelled, where that isn't a plain cancellation.
    var cancellationCause: AFError?
    var retryCount = 0
    var retryDelay: TimeInterval = 0
    /// Counts the suspensions, so that the timer of an earlier one is told apart.
    var suspensions = 0
    var handlers: [ResponseHandler] = []
    /// Those whose responses are made, and not handed over yet.
    var settled: [SettledHandler] = []
    /// Called when the request has come to its end.
    var endObservers: [@Sendable () -> Void] = []
    var progress = ProgressObservers()
    var hooks = RequestHooks()
    var own = RequestCustomization()

    /// Responses that were held back for a retrier are made anew: every handler is told of the cancellation.
    mutating func cancelled() {
        error = cancellationCause ?? .explicitlyCancelled
        handlers = settled.map(\.handler) + handlers
        settled = []
    }

    var isCancelled: Bool {
        if case .cancelled = lifecycle.state { return true }
        return false
    }

    var isOver: Bool { lifecycle.state == .finished || lifecycle.state == .cancelled(.over) }

    /// The last attempt on the network, unless there was another since that never got there.
    var lastAttempt: AttemptRecord? { attempts.last.flatMap { $0.attempt == attempt ? $0 : nil } }

    /// - Returns: Those who are told of the request; who waits for a first one only is told once.
    mutating func created(_ request: URLRequest) -> RequestHooks {
        created = request
        let hooks = hooks
        self.hooks.curl = []
        return hooks
    }

    /// The attempt that is under way.
    var running: AttemptRecord? { attempts.last.flatMap { $0.isRunning ? $0 : nil } }

    /// The attempt that the network is at.
    var transferring: AttemptRecord? { lifecycle.isTransferring ? running : nil }
}

/// What a program asks for one request alone.
struct RequestCustomization {
    /// Called before the session's, in the order in which they came.
    var interceptors: [any RequestInterceptor] = []
    /// Told after the session's.
    var monitors: CompositeEventMonitor?
    var redirectHandler: (any RedirectHandler)?
    var cachedResponseHandler: (any CachedResponseHandler)?
    /// For challenges of the request's origin.
    var credential: OwnCredential?

    /// As the program gave it, and in the engine's form.
    struct OwnCredential {
        let given: URLCredential
        let challenge: ChallengeCredential
    }
}

/// One thing that is to be done.
enum RequestStep {
    case perform(RequestLifecycle.Action)
    /// Tells of the task of an attempt.
    case begun(AttemptRecord)
    /// The attempt ends before the network is used.
    case endUnsent(AttemptRecord, AFError)
    /// Lets go of files that were opened too late.
    case release
    /// Tells the monitors of a new public state.
    case changed(Request.State)
}

/// A handler whose response is made.
struct SettledHandler: Sendable {
    let handler: ResponseHandler
    let response: SettledResponse
    /// The failure that a retrier gave instead.
    var replacement: AFError?
    /// Whether the retriers have been asked about its failure.
    var isDecided = false
}
