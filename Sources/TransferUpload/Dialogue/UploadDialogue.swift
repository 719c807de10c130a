public import TransferCore

/// An upload as its protocol sees it: which requests to make, and how to interpret their answers.
///
/// A dialogue is a pure state machine. Its driver performs its actions in their order and passes the results to it. A
/// dialogue lives as long as one attempt: it ends with exactly one ``UploadAction/finish(_:)`` or
/// ``UploadAction/fail(_:)``. The state that must survive it (the URL of the upload, its existing parts) is that of
/// ``UploadAction/save(_:)``. The next attempt, perhaps in another process, is a new dialogue with that state. It asks
/// the server what it has before it sends any byte.
///
/// A dialogue does not retry: it fails, says whether the failure is temporary (`TransferError.isTransient`), and is
/// begun anew by the job's rules. It repeats only what the protocol prescribes, such as the question for an offset
/// after a conflict.
public protocol UploadDialogue: Sendable {
    /// Returns the first actions. The driver calls the method once, before any other.
    ///
    /// - Parameter now: The time in seconds since 1970.
    mutating func begin(now: Int64) -> [UploadAction]

    /// Returns the actions that follow an event.
    ///
    /// - Parameter now: The time in seconds since 1970, for signatures and expiry.
    mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction]

    /// Returns the actions that free the server of an upload that is given up for good, such as a DELETE.
    ///
    /// The driver calls the method in place of ``begin(now:)`` on a dialogue made for it. An answer that the upload
    /// does not exist is a success.
    mutating func abandon(now: Int64) -> [UploadAction]

    /// Whether the number of concurrent requests with bytes of the source follows the link, because the job names none.
    var followsLink: Bool { get }

    /// Sets the number of concurrent requests that the link is worth. Surplus requests under way are not stopped.
    mutating func spread(over requests: Int, now: Int64) -> [UploadAction]
}

/// The number of requests with bytes of one source, where it follows the link.
public enum UploadSpread {
    /// The number before the link has been measured.
    public static let initial = 4
}

extension UploadDialogue {
    /// The default: the number of requests does not follow the link.
    public var followsLink: Bool { false }

    /// Returns no action: the default.
    public mutating func spread(over requests: Int, now: Int64) -> [UploadAction] { [] }
}

/// An action of a dialogue for its driver. Actions are done in order; those behind a `save` wait until that is durable.
/// A state directly before a `fail` becomes durable together with the failure.
public enum UploadAction: Sendable, Hashable {
    case send(UploadRequest)
    /// A digest of bytes of the source is needed; ``UploadEvent/digested(_:_:)`` answers it.
    case digest(id: Int, DigestAlgorithm, Range<Int64>)
    /// The state is stored for the next attempt, in this process or another. It holds no secret.
    case save(UploadState)
    /// The server holds that many bytes of the source now; the number falls when it has lost some.
    case confirmed(Int64)
    /// The server's bytes are given up and the source is sent from its start, for this reason in words.
    ///
    /// The saved state stays until another one is saved: a server that does not take the upload anew either may be
    /// asked again.
    case restart(String)
    /// The saved state is deleted.
    case forget
    /// The request is no longer wanted; no event of it follows.
    case stop(request: Int)
    /// The server's answers have shown the account's abilities, with which later uploads begin.
    case learned(AccountAbilities)
    case finish(UploadResult)
    case fail(TransferError)
}

/// The result of an action.
public enum UploadEvent: Sendable, Hashable {
    /// The final answer to a request has come, with any status except a followed redirect.
    case answered(UploadAnswer)
    /// An informational answer (RFC 9110 §15.2) other than 100 has come, while the request is still being sent.
    ///
    /// `url` is the URL that answered, if it differs from the request's URL after a redirect.
    case interim(request: Int, ResponseHead, url: String? = nil)
    /// No complete answer came. `sent` is the number of the body's bytes that were handed to the network.
    case failed(request: Int, TransferError, sent: Int64)
    case digested(id: Int, Checksum)
}

/// An answer to one of a dialogue's requests.
public struct UploadAnswer: Sendable, Hashable {
    /// The number of the request.
    public var request: Int
    /// The head of the answer.
    public var head: ResponseHead
    /// The beginning of the body, at most 256 KiB.
    public var body: [UInt8]
    /// The URL that answered, after redirects; relative URLs in the answer refer to it.
    public var url: String
    /// The bytes of the request's body that were handed to the network.
    public var sent: Int64
    /// The round trip to the server in seconds, as a new connection showed it; `nil` where none was made.
    public var roundTrip: Double?
    /// The digest of the whole body, where the request asked for it.
    public var digest: Checksum?
    /// The digest of the source's bytes that were sent, where the request asked for it.
    public var sums: Checksum?

    /// Creates an answer.
    public init(request: Int, head: ResponseHead, body: [UInt8] = [], url: String, sent: Int64 = 0) {
        self.request = request
        self.head = head
        self.body = body
        self.url = url
        self.sent = sent
    }
}

/// An upload that the server has confirmed.
public struct UploadResult: Sendable, Hashable {
    /// The URL of the upload, if the server reported it.
    public var url: String
    /// The status of the final answer.
    public var status: Int
    /// The server's own validator of the upload: an ETag, in the form of its field.
    public var validator: String?
    /// The digest of the whole that the server gave; it is compared with the source's where both are known.
    public var digest: Checksum?
    /// The body of the final answer as text, for reports.
    public var response: String?
    /// Whether the server gave a tag for all sent bytes that is their digest, and each tag was compared.
    public var isTagged = false
    /// Whether a question found the file that an earlier attempt had sent. The status is then that of the question.
    public var isFound = false
    /// The region of the bucket that an object server reported; `nil` where the request's region was right.
    public var region: String?

    /// Creates a result.
    public init(
        url: String, status: Int, validator: String? = nil, digest: Checksum? = nil, response: String? = nil,
        region: String? = nil
    ) {
        self.url = url
        self.status = status
        self.validator = validator
        self.digest = digest
        self.response = response
        self.region = region
    }
}
