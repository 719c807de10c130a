import Dispatch
public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEventLoop

/// An interceptor that adds a credential to requests. It refreshes an expired or refused credential once for all
/// requests that need it.
///
/// Requests that are to be sent, or were refused, during a refresh wait for it. Then all of them are sent with the new
/// credential, or fail with the error of the refresh.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
    /// The credential that the authenticator adds to requests.
    public typealias Credential = AuthenticatorType.Credential

    /// An upper limit for refreshes in a span of time. Without one, a server that refuses every credential would cause
    /// an endless sequence of refreshes.
    public struct RefreshWindow: Sendable {
        /// The span of time, in seconds.
        public let interval: TimeInterval
        /// The number of refreshes that may begin in the interval; a further one fails with
        /// ``AuthenticationError/excessiveRefresh``.
        public let maximumAttempts: Int

        /// Creates a window.
        ///
        /// - Parameters:
        ///   - interval: The span of time, in seconds.
        ///   - maximumAttempts: The number of refreshes that may begin in it.
        public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }

    /// The credential for the next request. A refresh stores its result here, unless another credential or `nil` is set
    /// meanwhile. Requests that wait for a refresh keep waiting when a credential is set.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set { _ = tell(.credentialSet(newValue)) }
    }

    private typealias State = AuthenticationState<Credential, Waiter>

    private let authenticator: AuthenticatorType
    private let state: Mutex<AuthenticationState<Credential, Waiter>>
    private let now: @Sendable () -> MonotonicTime
    /// The queue on which the authenticator refreshes and waiting requests are resumed. Callers from outside, which may
    /// hold locks, are thus not delayed.
    private let queue = DispatchQueue(label: "transferkit.authentication")

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: The authenticator of the service.
    ///   - credential: The first credential; requests fail with ``AuthenticationError/missingCredential`` without one.
    ///   - refreshWindow: The limit for refreshes; `nil` allows any number.
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

    /// Adds the credential to a URL request, after a refresh if one is needed.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { ask(.adaptation(urlRequest, session, completion)) }

    /// Retries a request that failed for want of authentication, after a refresh unless the credential has changed
    /// since.
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
        // The previous credential is released after the lock, as its `deinit` may run the program's code.
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
            // The closure holds the interceptor, so that waiting requests get an answer even when the program has
            // released it.
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

    /// A request that waits for the credential.
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

/// A completion that reports the end of a refresh even if the authenticator releases it without a call.
private final class RefreshCompletion<Credential: Sendable>: Sendable {
    private let report: @Sendable (Result<Credential, any Error>) -> Void

    init(_ report: @escaping @Sendable (Result<Credential, any Error>) -> Void) { self.report = report }

    // The state accepts only the first report of a refresh.
    deinit { report(.failure(AbandonedRefreshError())) }

    func call(_ result: Result<Credential, any Error>) { report(result) }
}

extension Error {
    /// Whether the error may stem from a response of the server. Otherwise `Request.response` may be the one of an
    /// earlier attempt. Its refusal must not count for a request that was never sent, as that would repeat endlessly.
    fileprivate var mayComeFromAnAnswer: Bool {
        switch asAFError {
        case .invalidURL, .createURLRequestFailed, .createUploadableFailed, .requestAdaptationFailed: false
        default: true
        }
    }
}
