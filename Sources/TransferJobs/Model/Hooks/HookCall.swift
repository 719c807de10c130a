public import TransferCore

/// A pending call of a hook about an end.
package struct HookCall: Sendable, Hashable {
    package let id: Int64
    package let batch: Int64
    /// The job's identity; `nil` for the end of the batch.
    package let job: String?
    /// The message's `id`, which stays the same for every attempt.
    package let event: String
    /// The message that ``HookMessage`` made.
    package let body: String
    /// The settings of the request, which name the hook.
    package var settings: JobSettings
    /// The number of failed attempts.
    package var attempts: Int
    /// The number of this process's attempts after which the hook's server asked for a wait. They do not count as
    /// retries.
    package var askedWaits = 0
    /// The total time of those waits.
    package var askedWait = Duration.zero
    /// The earliest time of the next attempt.
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

/// The outcome of an attempt to call a hook.
package struct HookOutcome: Sendable {
    package let id: Int64
    package let kind: Kind

    package init(_ id: Int64, _ kind: Kind) {
        self.id = id
        self.kind = kind
    }

    package enum Kind: Sendable {
        /// The call succeeded, and nothing is left to do.
        case reported
        /// The call failed, and another attempt follows.
        case again(attempts: Int, due: MonotonicTime, because: TransferError)
        /// The call failed, and no attempt follows in this run.
        case failed(attempts: Int, TransferError)
        /// No attempt was made, so that another process may take the call.
        case released
    }
}

/// A hook whose call failed, for display.
public struct HookTrouble: Sendable, Hashable {
    /// The job's identity; `nil` for the batch's own hook.
    public let job: String?
    /// The hook as in ``FinishHook/shown``.
    public let hook: String
    /// The number of attempts made.
    public let attempts: Int
    /// The last error's description in words.
    public let message: String
    /// The time of the next attempt, in milliseconds since 1970; `nil` where none follows in this run.
    public let again: Int64?

    package init(job: String?, hook: String, attempts: Int, message: String, again: Int64?) {
        self.job = job
        self.hook = hook
        self.attempts = attempts
        self.message = message
        self.again = again
    }
}

/// The result of calling a hook.
public struct HookNews: Sendable {
    /// The hook as in ``FinishHook/shown``.
    public let hook: String
    /// The message's `id`.
    public let event: String
    /// The job's identity; `nil` for the end of a batch.
    public let job: String?
    /// The number of attempts, including the last one.
    public let attempts: Int
    /// The state of the call.
    public let state: State

    package init(hook: String, event: String, job: String?, attempts: Int, state: State) {
        self.hook = hook
        self.event = event
        self.job = job
        self.attempts = attempts
        self.state = state
    }

    /// The state of a call.
    public enum State: Sendable {
        case reported
        case retrying(after: Duration, TransferError)
        /// The call failed, and no attempt follows in this run.
        case failed(TransferError)
    }
}
