import TransferCore

/// The state machine of an ``AuthenticationInterceptor``. It decides which requests get the credential, which wait, and
/// when a refresh begins: pure, no I/O.
///
/// Some facts are known to the program's code only: whether a credential needs a refresh, and whether a request carries
/// it. ``Action/examine(_:generation:)`` asks for them, and the next event carries the answer. Thus no code of the
/// program runs under the lock of this state. The generation shows whether the credential was replaced meanwhile.
struct AuthenticationState<Credential: Sendable, Waiter: Sendable> {
    struct Examination: Sendable {
        /// The generation of the credential that was examined.
        let generation: Int
        /// Whether the credential needs a refresh, before an attempt. After a refusal: whether the refused request
        /// carried it.
        let needsRefresh: Bool
    }

    enum Event: Sendable {
        /// An attempt is to be made.
        case adaptationAsked(Waiter, Examination?)
        /// An attempt was refused for want of authentication.
        case retryAsked(Waiter, Examination?)
        case refreshEnded(number: Int, Result<Credential, any Error>)
        case credentialSet(Credential?)
    }

    enum Action: Sendable {
        /// The caller waits, or nothing is to be done.
        case none
        /// The caller sends the event again, with the result of an examination of this credential.
        case examine(Credential, generation: Int)
        /// The caller continues with this credential.
        case proceed(Credential)
        /// The caller fails.
        case fail(any Error)
        /// The caller waits, and has to start this refresh.
        case refresh(Credential, number: Int)
        /// The waiters ask again or are retried, as there is a new credential.
        case release([Waiter])
        case reject([Waiter], any Error)
    }

    private struct Refresh {
        let number: Int
        /// The generation of the credential that is refreshed.
        let generation: Int
    }

    private(set) var credential: Credential?
    private var generation = 0
    private var refresh: Refresh?
    private var refreshCount = 0
    /// The waiters for the current refresh; empty without a refresh.
    private var waiters: [Waiter] = []
    private var limit: RefreshLimit?

    /// - Parameter limit: The limit for refreshes; `nil` allows any number.
    init(credential: Credential?, limit: RefreshLimit?) {
        self.credential = credential
        self.limit = limit
    }

    mutating func handle(_ event: Event, now: MonotonicTime) -> Action {
        switch event {
        case .adaptationAsked(let waiter, let examination):
            // A credential is not added to further requests during its refresh, even if it is still valid.
            if refresh != nil { return wait(waiter) }
            return examined(examination) ?? startRefresh(for: waiter, now)
        case .retryAsked(let waiter, let examination):
            if let action = examined(examination) { return action }
            return refresh == nil ? startRefresh(for: waiter, now) : wait(waiter)
        case .refreshEnded(let number, let result):
            return refreshEnded(number, result)
        case .credentialSet(let new):
            replaceCredential(new)
            return .none
        }
    }

    /// - Returns: The action without a refresh; `nil` when the current credential is known to need one.
    private func examined(_ examination: Examination?) -> Action? {
        guard let credential else { return .fail(AuthenticationError.missingCredential) }
        guard let examination, examination.generation == generation else {
            return .examine(credential, generation: generation)
        }
        return examination.needsRefresh ? nil : .proceed(credential)
    }

    private mutating func wait(_ waiter: Waiter) -> Action {
        waiters.append(waiter)
        return .none
    }

    private mutating func startRefresh(for waiter: Waiter, _ now: MonotonicTime) -> Action {
        guard let credential else { return .fail(AuthenticationError.missingCredential) }
        guard limit?.admits(at: now) ?? true else { return .fail(AuthenticationError.excessiveRefresh) }
        refreshCount += 1
        refresh = Refresh(number: refreshCount, generation: generation)
        waiters.append(waiter)
        return .refresh(credential, number: refreshCount)
    }

    private mutating func refreshEnded(_ number: Int, _ result: Result<Credential, any Error>) -> Action {
        guard let refresh, refresh.number == number else { return .none }
        let waiting = waiters
        waiters = []
        self.refresh = nil
        switch result {
        case .success(let new):
            // A credential that the program set during the refresh, or `nil` to log out, is newer than its result.
            if refresh.generation == generation { replaceCredential(new) }
            return .release(waiting)
        case .failure(let error):
            return .reject(waiting, error)
        }
    }

    private mutating func replaceCredential(_ new: Credential?) {
        credential = new
        generation += 1
    }
}
