/// A job of a batch, as any process can read it.
public struct ListedJob: Sendable {
    /// The position after which a listing continues.
    package let number: Int64
    /// The job's identity.
    public let job: String
    /// The job's state.
    public let state: JobState
    /// The job's source and destination; `nil` where the record cannot be read.
    public let route: JobRoute?
    /// The size in bytes; `nil` where there is none. A completed job has the size of its file. A job under way has its
    /// current bytes, where the run reports them. Other jobs have the size of their durable part.
    public var bytes: Int64?
    /// The absolute path of a completed download's file. Before completion, a response may still change the name in the
    /// URL.
    public var path: String?
    /// The number of attempts, counted as in ``JobFailure/attempts``, with the attempt under way.
    public var attempts = 0
    /// The code of the reason why the job failed, was skipped, or waits for its next attempt.
    public var code: String?
    /// The reason in words.
    public var message: String?
    /// The HTTP status of the last response, where it is known.
    public var status: Int?
    /// The last URL requested, after redirects, for an ended job; without secrets.
    public var finalURL: String?
    /// The time at which the job entered its state, in milliseconds since 1970; `nil` where it was not recorded.
    public var since: Int64?

    package init(number: Int64, job: String, state: JobState, route: JobRoute?) {
        self.number = number
        self.job = job
        self.state = state
        self.route = route
    }

    /// Notes the report of a run that works on the job. The attempt under way counts, and the bytes are the current
    /// ones.
    ///
    /// - Parameter bytes: The current bytes of the run's jobs, by their numbers.
    package mutating func note(now bytes: [Int64: Int64]?) {
        guard state == .claimed, let count = bytes?[number] else { return }
        attempts += 1
        self.bytes = max(count, self.bytes ?? 0)
    }
}
