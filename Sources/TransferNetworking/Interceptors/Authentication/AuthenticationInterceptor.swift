import Dispatch
public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEventLoop

/// Puts a credential on requests and refreshes it when it expires or is refused, once for all requests that need it.
///
/// Requests that are to be sent or were refused while a refresh is under way wait for it; then all of them go out with
/// the new credential, or fail with the error of the refresh.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
    /// The credential that the authenticator puts on requests.
    public typealias Credential = AuthenticatorType.Credential

    /// Bounds the refreshes in a span of time, as a server that refuses every credential would cause one after the
    /// other.
    public struct RefreshWindow: Sendable {
        /// Seconds.
        public let interval: TimeInterval
        /// Refreshes that may begin in the interval; the next one fails with ``AuthenticationError/excessiveRefresh``.
        public let maximumAttempts: Int

        /// - Parameter interval: Seconds.
        public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }

    /// The credential for the next request. A refresh puts its result here, unless another credential, or `nil`, is set
    /// while it's under way; what waits for a refresh goes on waiting when one is set.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set { _ = tell(.credentialSet(newValue)) }
    }

    private typealias State = AuthenticationState<Credential, Waiter>

    private let authenticator: AuthenticatorType
    private let state: Mutex<AuthenticationState<Credential, Waiter>>
    private let now: @Sendable () -> MonotonicTime
    /// Where the authenticator refreshes and waiting requests are told: whatever calls in from outside (the session's
    /// queue, the authenticator's completion, perhaps with locks held) is not kept.
    private let queue = DispatchQueue(label: "transferkit.authentication")

    /// - Parameters:
    ///   - credential: Requests fail with ``AuthenticationError/missingCredential`` while there is none.
    ///   - refreshWindow: `nil` allows any number of refreshes.
    public convenience init(
        authenticator: AuthenticatorType, credential: Credential? = nil,
        refreshWindow: RefreshWindow? = RefreshWindow()
    ) {
        self.init(authenticator: authenticator, credential: credential, refreshWindow: refreshWindow, now: { .now })
    }

    init(
        authenticator: AuthenticatorType, credential: Credential?, refreshWindow: RefreshWindow?,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        self.authenticator = authenticator
        self.now = now
        let limit = refreshWindow.map { RefreshLimit(interval: $0.interval, attempts: $0.maximumAttempts) }
        state = Mutex(AuthenticationState(credential: credential, limit: limit))
    }

    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { ask(.adaptation(urlRequest, session, completion)) }

    @preconcurrency
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard error.mayComeFromAnAnswer, let urlRequest = request.request, let response = request.response,
            authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error)
        else { return completion(.doNotRetry) }
        ask(.retry(urlRequest, session, completion))
    }

    // MARK: From events to actions

    private func tell(_ event: State.Event) -> State.Action {
        let now = now()
        // The credential before is let go of after the lock: what it does at its end is code of the program too.
        let (before, action) = state.withLock { ($0.credential, $0.handle(event, now: now)) }
        return withExtendedLifetime(before) { action }
    }

    private func ask(_ waiter: Waiter) {
        var examination: State.Examination?
        while true {
            switch tell(waiter.event(examination)) {
            case .examine(let credential, let generation):
                let needsRefresh = waiter.needsRefresh(of: credential, by: authenticator)
                examination = State.Examination(generation: generation, needsRefresh: needsRefresh)
                continue
            case .proceed(let credential): waiter.proceed(with: credential, by: authenticator)
            case .fail(let error): waiter.fail(error)
            case .refresh(let credential, let number): refresh(credential, number, for: waiter.session)
            case .none, .release, .reject: break
            }
            return
        }
    }

    private func refresh(_ credential: Credential, _ number: Int, for session: Session) {
        queue.async { [self] in
            // It keeps the interceptor, so that waiting requests are told also when nobody else holds it any more.
            let completion = RefreshCompletion<Credential> { self.refreshEnded(number, $0) }
            authenticator.refresh(credential, for: session) { completion.call($0) }
        }
    }

    private func refreshEnded(_ number: Int, _ result: Result<Credential, any Error>) {
        switch tell(.refreshEnded(number: number, result)) {
        case .release(let waiters):
            queue.async { [self] in
                for waiter in waiters {
                    if case .retry(_, _, let completion) = waiter { completion(.retry) } else { ask(waiter) }
                }
            }
        case .reject(let waiters, let error): queue.async { for waiter in waiters { waiter.fail(error) } }
        case .none, .examine, .proceed, .fail, .refresh: break
        }
    }

    /// A request that asks for the credential.
    private enum Waiter: Sendable {
        case adaptation(URLRequest, Session, AdaptCompletion)
        case retry(URLRequest, Session, RetryCompletion)

        var session: Session {
            switch self {
            case .adaptation(_, let session, _), .retry(_, let session, _): session
            }
        }

        func event(_ examination: State.Examination?) -> State.Event {
            switch self {
            case .adaptation: .adaptationAsked(self, examination)
            case .retry: .retryAsked(self, examination)
            }
        }

        func needsRefresh(of credential: Credential, by authenticator: AuthenticatorType) -> Bool {
            switch self {
            case .adaptation: credential.requiresRefresh
            case .retry(let request, _, _): authenticator.isRequest(request, authenticatedWith: credential)
            }
        }

        func proceed(with credential: Credential, by authenticator: AuthenticatorType) {
            switch self {
            case .adaptation(var request, _, let completion):
                authenticator.apply(credential, to: &request)
                completion(.success(request))
            case .retry(_, _, let completion): completion(.retry)
            }
        }

        func fail(_ error: any Error) {
            switch self {
            case .adaptation(_, _, let completion): completion(.failure(error))
            case .retry(_, _, let completion): completion(.doNotRetryWithError(error))
            }
        }
    }
}

/// Reports the end of a refresh also when the authenticator forgets to.
private final class RefreshCompletion<Credential: Sendable>: Sendable {
    private let report: @Sendable (Result<Credential, any Error>) -> Void

    init(_ report: @escaping @Sendable (Result<Credential, any Error>) -> Void) { self.report = report }

    // The state takes the first report of a refresh only.
    deinit { report(.failure(AbandonedRefreshError())) }

    func call(_ result: Result<Credential, any Error>) { report(result) }
}

extension Error {
    /// Whether the attempt got as far as the server: `Request.response` may be that of the attempt before otherwise, and
    /// its refusal must not be taken for one of a request that was never sent, again and again.
    fileprivate var mayComeFromAnAnswer: Bool {
        switch asAFError {
        case .invalidURL, .createURLRequestFailed, .createUploadableFailed, .requestAdaptationFailed: false
        default: true
        }
    }
}
