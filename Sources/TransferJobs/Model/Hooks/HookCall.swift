public import TransferCore

/// A hook that is to be told of an end.
package struct HookCall: Sendable, Hashable {
    package let id: Int64
    package let batch: Int64
    /// The job's identity; `nil` where the end is the batch's.
    package let job: String?
    /// The message's `id`, which stays the same however often it's told.
    package let event: String
    /// ``HookMessage``
    package let body: String
    /// How the hook is reached; names it.
    package var settings: JobSettings
    /// Attempts that came to nothing.
    package var attempts: Int
    /// Attempts of this process after which the server of the hook asked to wait. They spend no retry.
    package var askedWaits = 0
    /// The time that those waits take in all.
    package var askedWait = Duration.zero
    /// Not before that.
    package var due: MonotonicTime?

    package init(
        id: Int64, batch: Int64, job: String?, event: String, body: String, settings: JobSettings, attempts: Int = 0,
        due: MonotonicTime? = nil
    ) {
        self.id = id
        self.batch = batch
        self.job = job
        self.event = event
        self.body = body
        self.settings = settings
        self.attempts = attempts
        self.due = due
    }

    package var hook: FinishHook { settings.onFinish ?? .command("") }
}

/// What became of an attempt to tell a hook.
package struct HookOutcome: Sendable {
    package let id: Int64
    package let kind: Kind

    package init(_ id: Int64, _ kind: Kind) {
        self.id = id
        self.kind = kind
    }

    package enum Kind: Sendable {
        /// Nothing is left to do.
        case reported
        /// Another attempt follows.
        case again(attempts: Int, due: MonotonicTime, because: TransferError)
        /// No attempt follows, but in another run.
        case failed(attempts: Int, TransferError)
        /// Nothing was done: another process may take it.
        case released
    }
}

/// A hook that couldn't be told, for people.
public struct HookTrouble: Sendable, Hashable {
    /// `nil` where it's the batch's own.
    public let job: String?
    /// ``FinishHook/shown``
    public let hook: String
    public let attempts: Int
    public let message: String
    /// When the next attempt is, in milliseconds since 1970; `nil` where none follows in this run.
    public let again: Int64?

    package init(job: String?, hook: String, attempts: Int, message: String, again: Int64?) {
        self.job = job
        self.hook = hook
        self.attempts = attempts
        self.message = message
        self.again = again
    }
}

/// A hook was told, or couldn't be.
public struct HookNews: Sendable {
    /// ``FinishHook/shown``
    public let hook: String
    /// The message's `id`.
    public let event: String
    /// `nil` where the batch's end was told.
    public let job: String?
    /// With the last one.
    public let attempts: Int
    public let state: State

    package init(hook: String, event: String, job: String?, attempts: Int, state: State) {
        self.hook = hook
        self.event = event
        self.job = job
        self.attempts = attempts
        self.state = state
    }

    public enum State: Sendable {
        case reported
        case retrying(after: Duration, TransferError)
        /// No attempt follows in this run.
        case failed(TransferError)
    }
}
