public import TransferCore

/// How an exchange ended.
public struct ExchangeOutcome: Sendable {
    public let result: Result<ResponseHead, TransferError>
    /// The last answer's head, also of one that counts as a failure.
    public let head: ResponseHead?
    /// Where the body of the last answer began, if one did.
    public let start: BodyStart?
    /// Whether the last answer speaks of the whole request, of its beginning, or of another one.
    public var answers = AnswerScope.request
    /// The URL that answered at last; not redacted.
    public let finalURL: String
    /// The fragment that belongs to it: that of the redirect that led there, or of the request.
    public var fragment: String?
    /// Bytes of the file in place: those that were there and those that came.
    public let position: Int64
    /// Body bytes that came over the network, of every hop that delivered.
    public let received: Int64
    /// Bytes of the request's body handed to the network.
    public let sent: Int64
    /// Whether some of the request's body may have arrived; of an empty one, whether the request has left.
    public var bodyLeft = false
    /// The state that can be continued later, of a failed exchange with a `FileSink`.
    public var resumeData: ResumeData?
    /// Whether it succeeded and nothing proves that the file came whole (``ExchangeSettings/openEnd``).
    public var isLengthUnproven = false
    /// Whether the server was asked for the length afterwards, and told that which came.
    public var isLengthConfirmed = false
    /// Whether TLS's closing alert ended it then.
    public var hasClosureAlert = false
    /// Whether the bytes that were there before are there still, and no others.
    public var isUntouched = true
    /// The claim of an answer against the bytes that are there, where it failed the exchange
    /// (``ResumePoint/outlastsOddAnswers``): a version or a length.
    public var doubtfulClaim: String?
    /// Whether it shows that bytes of another tool are no beginning of the file.
    public var refutesAdopted: Bool { doubtfulClaim.map { ResumeClaim.refutesAdopted($0) } ?? false }
    /// The digest of the whole file, when it could be computed on the way.
    public var digest: Checksum?
    /// The beginning of the answer's body, where an `AnswerSink` kept it, or as far as the settings ask for that of an
    /// error (``ExchangeSettings/keptOfRefusals``).
    public var answer: [UInt8] = []
    public var metrics: ExchangeMetrics
    /// The error that a ``TLSRules/Check`` threw for the server.
    public var refusal: (any Error)?
    /// The failure in the words of who carried it, where that wasn't the network.
    package var carrierError: (any Error)?
    /// Measurements of each hop, where the settings ask for that.
    public var hops: [HopMetrics] = []
}

extension ExchangeOutcome {
    /// The result for the one who wants a receipt for what was sent: a success that belongs to something else is none.
    public var receipt: Result<ResponseHead, TransferError> {
        guard case .success(let head) = result, (200..<300).contains(head.status) else { return result }
        switch answers {
        case .request: return result
        case .beginning:
            return .failure(
                TransferError(
                    .answeredEarly, "the answer \(head.status) came before all had been sent, and is no receipt",
                    isTransient: true))
        case .another:
            return .failure(
                TransferError(
                    .badResponse, "the answer \(head.status) is to another request, which a redirect made of this one"))
        }
    }

    /// Makes the outcome of an exchange that a program's `URLProtocol` carried, and not the network.
    ///
    /// - Parameters:
    ///   - start: `nil` where no answer came.
    ///   - failure: `nil` for a success.
    package init(finalURL: String, start: BodyStart?, position: Int64, failure: TransferError?) {
        let head = start?.head ?? ResponseHead(status: 0, fields: [])
        self.init(
            result: failure.map { .failure($0) } ?? .success(head), head: start?.head, start: start, finalURL: finalURL,
            position: position, received: position, sent: 0, metrics: ExchangeMetrics())
    }

    /// Makes one outcome of a file that several exchanges filled, from that of the first one.
    ///
    /// - Parameters:
    ///   - result: The head of the first answer, or why the file didn't come whole.
    ///   - position: Bytes of the file that are there.
    ///   - received: Bytes that all of them brought.
    package func joined(
        _ result: Result<ResponseHead, TransferError>, position: Int64, received: Int64, resumeData: ResumeData?
    ) -> ExchangeOutcome {
        var joined = ExchangeOutcome(
            result: result, head: head, start: start, finalURL: finalURL, position: position, received: received,
            sent: sent, metrics: metrics)
        joined.fragment = fragment
        joined.resumeData = resumeData
        joined.isUntouched = false
        joined.bodyLeft = bodyLeft
        joined.doubtfulClaim = doubtfulClaim
        joined.refusal = refusal
        joined.hops = hops
        return joined
    }

    /// Makes the outcome of an exchange that needed no network.
    public init(finalURL: String, answeredBy start: BodyStart) {
        self.init(
            result: .success(start.head), head: start.head, start: start, finalURL: finalURL,
            position: start.total ?? 0, received: 0, sent: 0, metrics: ExchangeMetrics())
    }
}

/// The request that an answer belongs to: a receipt is only the answer to the request itself.
public enum AnswerScope: Sendable, Hashable {
    /// The request as it was given, with all of its body; where redirects repeated both, the last of those.
    case request
    /// The same, but the answer came before all of the body had been handed to the network.
    case beginning
    /// Another request, which a redirect made of it (RFC 9110 §15.4).
    case another
}

/// Measurements of one exchange; times in seconds from the start of its last hop.
public struct ExchangeMetrics: Sendable, Hashable {
    public var nameLookup = 0.0
    public var connect = 0.0
    public var tls = 0.0
    public var firstByte = 0.0
    public var total = 0.0
    public var httpVersion = 0
    public var connectionsMade = 0
    public var redirects = 0
    public var localAddress: String?
    public var remoteAddress: String?
    /// Why the last connection that was tried came to nothing, as errno(3) has it; 0 where nobody said.
    public var connectErrno: Int32 = 0

    /// Seconds of a round trip: the time that the last connection took to be made; `nil` where a kept one served.
    package var roundTrip: Double? { connectionsMade > 0 && connect > nameLookup ? connect - nameLookup : nil }
    public init() {}
}

/// An event of an exchange, on its way up. Events are delivered on the loop that carries it: handlers must be quick.
public enum ExchangeEvent: Sendable {
    /// An answer on the way to the final one (RFC 9110 §15.2), other than 100 and 101.
    case interim(ResponseHead)
    /// The body of an answer begins.
    case responded(BodyStart)
    /// The answer is a redirect. Where the exchange asks before it follows, nothing happens until it's told.
    case redirected(RedirectProposal)
    /// A server asks for credentials. It's answered, where it can be, without anybody's help.
    case challenged(AuthenticationReport)
    /// A machine that redirects led to gets its entry of `.netrc`.
    case netrcUsed(NetrcUse)
    /// The kernel refused the congestion control of a connection that sends; once for each algorithm and engine.
    case congestionRefused(CongestionUse)
    /// The bytes so far are given up, for this reason.
    case restarted(reason: String)
    /// Once, at the end.
    case ended(ExchangeOutcome)
}
