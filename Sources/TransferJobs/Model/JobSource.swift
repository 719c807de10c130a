/// A source URL of a download, with its results in this run.
///
/// Only downloads over several connections or from several URLs have such reports. They are in ``JobProgress/sources``
/// during the transfer, and in ``JobReceipt/sources`` or ``JobFailure/sources`` at its end.
public struct JobSource: Sendable, Hashable, Codable {
    /// The URL as the job names it, before redirects and without secrets.
    public var url: String
    /// The number of connections: the current one during the transfer, and the highest one after its end.
    public var connections: Int
    /// The number of body bytes that the source sent in this run, including unused ones.
    public var bytes: Int64
    /// The rate of all of the source's connections together, in bytes a second. It covers the last seconds while there
    /// are connections, and otherwise the whole time with connections. It is `nil` until the source has sent something.
    public var rate: Int64?
    /// The state of the source.
    public var state: State
    /// The reason why the source is paused or dropped; `nil` while it is used.
    public var fault: Fault?
    /// The time after which a paused source may be asked again, where that is known.
    public var again: Duration?
    /// The congestion control of an active upload's connections, in words, for other processes; `nil` for the system's
    /// own.
    package var congestion: String?

    /// The state of a source.
    public enum State: String, Sendable, Hashable, Codable {
        /// The source sends the file, or may be asked to at any time.
        case used
        /// No requests are sent to the source for now; it may be asked again.
        case paused
        /// No more requests are sent to the source.
        case dropped
        /// No request has been sent to the source; only `JobExplanation.sources` has this state.
        case unasked
    }

    /// The reason why no requests are sent to a source.
    public struct Fault: Sendable, Hashable, Codable {
        /// The kind of the fault.
        public var cause: Cause
        /// The description in words, without secrets.
        public var message: String

        /// Creates a fault; the message must not contain secrets.
        public init(_ cause: Cause, _ message: String) {
            self.cause = cause
            self.message = message
        }
    }

    /// The kind of a source's fault.
    public enum Cause: String, Sendable, Hashable, Codable {
        /// The source answered with an error, or denied access.
        case refused
        /// The source has a file of a different length.
        case otherLength
        /// The source has a different version from the one that it began to send.
        case otherVersion
        /// A digest shows that the source sent wrong bytes.
        case wrongBytes
        /// The source is so slow compared with others that it does not justify a connection.
        case slow
        /// The source sent nothing for too long.
        case silent
        /// Any other fault: the source is unreachable, the connection broke, or the response is invalid.
        case failed
    }

    /// Creates a report; `bytes` counts body bytes, and `rate` is in bytes a second.
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
