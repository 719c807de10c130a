/// A URL that a download's file comes from, and what came of it in this run.
///
/// Only downloads that were fetched over several connections, or from more than one URL, have such reports: in
/// ``JobProgress/sources`` while they are under way, in ``JobReceipt/sources`` and ``JobFailure/sources`` at the end.
public struct JobSource: Sendable, Hashable, Codable {
    /// As the job names it, before redirects; redacted.
    public var url: String
    /// Of a job under way: its connections now. Of one that has ended: the most that it had at once.
    public var connections: Int
    /// Body bytes that it sent in this run, those of no use included.
    public var bytes: Int64
    /// Bytes a second of all its connections together: over the last seconds while it has some, otherwise over the whole
    /// time in which it had. `nil` until it has brought something.
    public var rate: Int64?
    public var state: State
    /// Why it's paused or dropped; `nil` while it's used.
    public var fault: Fault?
    /// Of one that is paused: after which time it may be asked again, where that's known.
    public var again: Duration?
    /// The congestion control of the connections of an upload under way, in words, for other processes. `nil` where it is
    /// the system's own.
    package var congestion: String?

    public enum State: String, Sendable, Hashable, Codable {
        /// It brings the file, or may at any time.
        case used
        /// Nothing is asked of it for now; it may be asked again.
        case paused
        /// Nothing more is asked of it.
        case dropped
        /// Nothing was asked of it so far; only `JobExplanation.sources` has such.
        case unasked
    }

    /// Why nothing is asked of a source.
    public struct Fault: Sendable, Hashable, Codable {
        public var cause: Cause
        /// In words, without secrets.
        public var message: String

        public init(_ cause: Cause, _ message: String) {
            self.cause = cause
            self.message = message
        }
    }

    public enum Cause: String, Sendable, Hashable, Codable {
        /// It answered with an error, or lets nobody in.
        case refused
        /// It has a file of another length.
        case otherLength
        /// It has another version than the one that it began to send.
        case otherVersion
        /// A digest shows that what it sent is wrong.
        case wrongBytes
        /// It brings so little beside others that it isn't worth a connection.
        case slow
        /// Nothing came from it for too long.
        case silent
        /// Anything else: it can't be reached, the connection broke off, the answer is none.
        case failed
    }

    public init(
        url: String, connections: Int, bytes: Int64 = 0, rate: Int64? = nil, state: State = .used, fault: Fault? = nil,
        again: Duration? = nil
    ) {
        self.url = url
        self.connections = connections
        self.bytes = bytes
        self.rate = rate
        self.state = state
        self.fault = fault
        self.again = again
    }
}
