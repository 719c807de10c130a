import TransferCore

/// Which requests get the credential, which wait for a new one, and when it's refreshed: pure, no I/O.
///
/// What only the program's code knows (whether a credential is due for a refresh, whether a request carries it) is asked
/// for by ``Action/examine(_:generation:)`` and told with the event that follows, so that no code of the program runs
/// under the lock that guards this. The generation tells whether the credential was replaced meanwhile.
struct AuthenticationState<Credential: Sendable, Waiter: Sendable> {
    struct Examination: Sendable {
        /// Of the credential that was examined.
        let generation: Int
        /// Before an attempt: it's due for a refresh. After a refusal: the refused request carried it.
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
        /// The event comes again, with what is found out about this credential.
        case examine(Credential, generation: Int)
        /// The caller goes on, with this credential.
        case proceed(Credential)
        /// The caller fails.
        case fail(any Error)
        /// The caller waits, and this is to be done for it.
        case refresh(Credential, number: Int)
        /// The waiters ask again, or are retried: there is a new credential.
        case release([Waiter])
        case reject([Waiter], any Error)
    }

    private struct Refresh {
        let number: Int
        /// Of the credential that is refreshed.
        let generation: Int
    }

    private(set) var credential: Credential?
    private var generation = 0
    private var refresh: Refresh?
    private var refreshCount = 0
    /// Empty unless there is a refresh.
    private var waiters: [Waiter] = []
    private var limit: RefreshLimit?

    /// - Parameter limit: `nil` allows any number of refreshes.
    init(credential: Credential?, limit: RefreshLimit?) {
        self.credential = credential
        self.limit = limit
    }

    mutating func handle(_ event: Event, now: MonotonicTime) -> Action {
        switch event {
        case .adaptationAsked(let waiter, let examination):
            // A credential that is being refreshed is not put on further requests, also when it would do.
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

    /// - Returns: `nil` when the current credential is known to need a refresh.
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
            // What the program set while the refresh was under way (nothing, to log out) is newer than its result.
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
