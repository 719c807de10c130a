/// A job of a batch, as any process can see it.
public struct ListedJob: Sendable {
    /// Where a list goes on after it.
    package let number: Int64
    public let job: String
    public let state: JobState
    /// `nil` where its record can't be read any more.
    public let route: JobRoute?
    /// Of a complete job the size of its file; of one that a run works on the bytes that it has now, where the run reports
    /// them; of others the durable part of it. `nil` where there is none.
    public var bytes: Int64?
    /// The absolute path of a complete download's file: before, an answer may still name it otherwise than its URL does.
    public var path: String?
    /// How often it was tried, as ``JobFailure/attempts`` counts, with the attempt that is under way.
    public var attempts = 0
    /// Why it failed, was skipped, or waits for its next attempt.
    public var code: String?
    public var message: String?
    /// The HTTP status of the last answer, where it's known.
    public var status: Int?
    /// The URL that was asked last, after redirects, of a job that has ended; redacted.
    public var finalURL: String?
    /// Since when it is in this state, in milliseconds since 1970; `nil` where nobody wrote it down.
    public var since: Int64?

    package init(number: Int64, job: String, state: JobState, route: JobRoute?) {
        self.number = number
        self.job = job
        self.state = state
        self.route = route
    }

    /// Notes the report of a run that works on the job: its attempt counts, and the bytes are those of now.
    ///
    /// - Parameter bytes: The bytes of the jobs of the run, by their numbers.
    package mutating func note(now bytes: [Int64: Int64]?) {
        guard state == .claimed, let count = bytes?[number] else { return }
        attempts += 1
        self.bytes = max(count, self.bytes ?? 0)
    }
}
