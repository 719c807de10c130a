public import TransferCore

/// One upload, as its protocol sees it: which requests to make, and what their answers mean.
///
/// A pure state machine. Whoever drives it performs its actions in their order and tells it what came of them. A
/// dialogue lives as long as one attempt: it ends with exactly one ``UploadAction/finish(_:)`` or
/// ``UploadAction/fail(_:)``, and what has to survive it (the URL of the upload, the parts that are there) is the state
/// of ``UploadAction/save(_:)``. The next attempt, perhaps in another process, is a new dialogue with that state; it
/// asks the server what it has before it sends anything.
///
/// Retrying is not its business: it fails, says whether that may pass (`TransferError.isTransient`), and is begun anew
/// by the owner's rules. Only what the protocol itself prescribes (an offset that has to be asked for after a conflict)
/// is done inside.
public protocol UploadDialogue: Sendable {
    /// Called once, before anything else.
    mutating func begin(now: Int64) -> [UploadAction]

    /// - Parameter now: Seconds since 1970, for signatures and expiry.
    mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction]

    /// The upload is given up for good: what frees the server of what it holds (a DELETE). Called in place of
    /// ``begin(now:)`` with a dialogue made for it; an answer that says that nothing is there is a success.
    mutating func abandon(now: Int64) -> [UploadAction]

    /// Whether several requests with bytes of the source may be under way at a time, and their number is left to the link:
    /// the job names none.
    var followsLink: Bool { get }

    /// The link is worth as many requests with bytes of the source at a time. Those that are under way beyond that end by
    /// themselves.
    mutating func spread(over requests: Int, now: Int64) -> [UploadAction]
}

/// The number of requests with bytes of one source, where it follows the link.
public enum UploadSpread {
    /// Before the link has shown what it is worth.
    public static let initial = 4
}

extension UploadDialogue {
    public var followsLink: Bool { false }

    public mutating func spread(over requests: Int, now: Int64) -> [UploadAction] { [] }
}

/// An action that a dialogue wants done. Actions are done in order; those behind a `save` wait until that is durable.
public enum UploadAction: Sendable, Hashable {
    case send(UploadRequest)
    /// A digest of bytes of the source is needed; answered by ``UploadEvent/digested(_:_:)``.
    case digest(id: Int, DigestAlgorithm, Range<Int64>)
    /// The state is kept for the next attempt, in this process or another. Holds no secret.
    case save(UploadState)
    /// As many bytes of the source are held by the server now; falls when it has lost some.
    case confirmed(Int64)
    /// The server's bytes are given up and the source is sent from its start, for this reason (in words). The saved
    /// state stays until something else is: a server may be asked again that doesn't take the upload anew either.
    case restart(String)
    /// The saved state is of no use to anybody.
    case forget
    /// The request isn't wanted any more; no event comes of it after this.
    case stop(request: Int)
    /// The server's answers have shown what the account may do: uploads after this one begin with that.
    case learned(AccountAbilities)
    case finish(UploadResult)
    case fail(TransferError)
}

/// The result of an action.
public enum UploadEvent: Sendable, Hashable {
    /// The final answer to a request, of any status but a redirect that was followed.
    case answered(UploadAnswer)
    /// An informational answer (RFC 9110 §15.2) other than 100, while the request is still being sent. `url`: where it
    /// came from, if that isn't the request's URL any more because a redirect was followed.
    case interim(request: Int, ResponseHead, url: String? = nil)
    /// No whole answer came. `sent`: bytes of the body that were handed to the network.
    case failed(request: Int, TransferError, sent: Int64)
    case digested(id: Int, Checksum)
}

/// An answer to one of a dialogue's requests.
public struct UploadAnswer: Sendable, Hashable {
    public var request: Int
    public var head: ResponseHead
    /// The first 256 KiB at most.
    public var body: [UInt8]
    /// Where the answer came from, after redirects; what relative URLs in it refer to.
    public var url: String
    /// Bytes of the request's body that were handed to the network.
    public var sent: Int64
    /// Seconds of a round trip to the server, as a new connection showed it; `nil` where none was made.
    public var roundTrip: Double?
    /// The digest of the whole body, where the request asked for it.
    public var digest: Checksum?
    /// The digest of the source's bytes that were sent, where the request asked for it.
    public var sums: Checksum?

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
    /// Where the upload is, as far as the server said.
    public var url: String
    public var status: Int
    /// The server's own mark of what it holds: an ETag, in the form of its field.
    public var validator: String?
    /// The digest of the whole as the server gives it; compared with the source's own where both are known.
    public var digest: Checksum?
    /// The final answer's body, as text, for reports.
    public var response: String?
    /// Whether the server gave all that was sent tags that are the digests of it, each of which was compared.
    public var isTagged = false
    /// The region in which a server of objects said that the bucket is; `nil` where it was asked for.
    public var region: String?

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
