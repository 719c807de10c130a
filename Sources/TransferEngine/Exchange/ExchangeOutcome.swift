public import TransferCore

/// The outcome of an exchange.
public struct ExchangeOutcome: Sendable {
    /// The final head, or the error of a failed exchange.
    public let result: Result<ResponseHead, TransferError>
    /// The last answer's head, even if it counts as a failure.
    public let head: ResponseHead?
    /// The description of the last answer's body, if one began.
    public let start: BodyStart?
    /// The fields behind the last answer's body (RFC 9110 §6.5). They are no part of ``head``: only a field that is
    /// defined for trailers counts.
    public var trailers: [HeaderField] = []
    /// The scope of the last answer: the whole request, its beginning, or another request.
    public var answers = AnswerScope.request
    /// The URL of the last answer; not redacted.
    public let finalURL: String
    /// The fragment of that URL: from the redirect that led there, or from the request.
    public var fragment: String?
    /// The bytes of the file in place: those that existed before and those that came.
    public let position: Int64
    /// The bytes of all delivered bodies that came over the network.
    public let received: Int64
    /// The bytes of the request's body that were handed to the network.
    public let sent: Int64
    /// Whether some of the request's body may have arrived; for an empty body, whether the request has left.
    public var bodyLeft = false
    /// The state of a failed exchange with a `FileSink` that can be continued later.
    public var resumeData: ResumeData?
    /// Whether the exchange succeeded without a proof that the file is complete (``ExchangeSettings/openEnd``).
    public var isLengthUnproven = false
    /// Whether the server was asked for the length afterwards, and reported that of the received body.
    public var isLengthConfirmed = false
    /// Whether TLS's closing alert ended a body whose length has no other proof.
    public var hasClosureAlert = false
    /// Whether the bytes that existed before still exist, and no others.
    public var isUntouched = true
    /// The claim of an answer against the existing bytes, where it failed the exchange: a version or a length.
    ///
    /// See ``ResumePoint/outlastsOddAnswers``.
    public var doubtfulClaim: String?
    /// Whether the claim shows that bytes of another tool are no beginning of the file.
    public var refutesAdopted: Bool { doubtfulClaim.map { ResumeClaim.refutesAdopted($0) } ?? false }
    /// The digest of the whole file, where it could be computed during the transfer.
    public var digest: Checksum?
    /// The beginning of the answer's body, where an `AnswerSink` kept it.
    ///
    /// For an error the settings determine the kept length (``ExchangeSettings/keptOfRefusals``).
    public var answer: [UInt8] = []
    /// The measurements of the exchange.
    public var metrics: ExchangeMetrics
    /// The error that a ``TLSRules/Check`` threw for the server.
    public var refusal: (any Error)?
    /// The original error of a program's own carrier, where the network did not carry the exchange.
    package var carrierError: (any Error)?
    /// The measurements of each hop, where the settings ask for them.
    public var hops: [HopMetrics] = []
}

extension ExchangeOutcome {
    /// The result as a receipt for what was sent: a success that answers another request is an error.
    ///
    /// A server that answers early may close the connection under the rest of the body. The answer then names the
    /// failure, and not the lost connection.
    public var receipt: Result<ResponseHead, TransferError> {
        if case .failure(let error) = result, error.code == .connectionLost, answers == .beginning, let head,
            (200..<300).contains(head.status)
        {
            return .failure(.answeredEarly(head.status))
        }
        guard case .success(let head) = result, (200..<300).contains(head.status) else { return result }
        switch answers {
        case .request: return result
        case .beginning: return .failure(.answeredEarly(head.status))
        case .another:
            return .failure(
                TransferError(
                    .badResponse, "the answer \(head.status) is to another request, which a redirect made of this one"))
        }
    }

    /// Makes the outcome of an exchange that a program's `URLProtocol` carried, and not the network.
    ///
    /// - Parameters:
    ///   - start: The description of the body; `nil` where no answer came.
    ///   - failure: The error; `nil` for a success.
    package init(finalURL: String, start: BodyStart?, position: Int64, failure: TransferError?) {
        let head = start?.head ?? ResponseHead(status: 0, fields: [])
        self.init(
            result: failure.map { .failure($0) } ?? .success(head), head: start?.head, start: start, finalURL: finalURL,
            position: position, received: position, sent: 0, metrics: ExchangeMetrics())
    }

    /// Makes one outcome of a file that several exchanges filled, from that of the first one.
    ///
    /// - Parameters:
    ///   - result: The head of the first answer, or the reason why the file is incomplete.
    ///   - position: The bytes of the file that exist.
    ///   - received: The bytes that all exchanges brought.
    package func joined(
        _ result: Result<ResponseHead, TransferError>, position: Int64, received: Int64, resumeData: ResumeData?
    ) -> ExchangeOutcome {
        var joined = ExchangeOutcome(
            result: result, head: head, start: start, finalURL: finalURL, position: position, received: received,
            sent: sent, metrics: metrics)
        joined.fragment = fragment
        joined.trailers = trailers
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

extension TransferError {
    /// Returns the error of a success that came while the body was still being sent. It is no proof that the server
    /// stored the whole body.
    static func answeredEarly(_ status: Int) -> TransferError {
        TransferError(
            .answeredEarly, "the answer \(status) came before all had been sent, and is no receipt", isTransient: true)
    }
}

/// The request to which an answer belongs: only the answer to the request itself is a receipt.
public enum AnswerScope: Sendable, Hashable {
    /// The original request with its whole body; where redirects repeated both, the last of those.
    case request
    /// The same request, but the answer came before the whole body had been handed to the network.
    case beginning
    /// Another request, into which a redirect turned the original one (RFC 9110 §15.4).
    case another
}

/// The measurements of one exchange; times are in seconds from the start of its last hop.
public struct ExchangeMetrics: Sendable, Hashable {
    /// The time when the name was looked up.
    public var nameLookup = 0.0
    /// The time when the connection was made.
    public var connect = 0.0
    /// The time when the TLS handshake was done; 0 without one.
    public var tls = 0.0
    /// The time when the first byte of the answer came.
    public var firstByte = 0.0
    /// The time when the hop ended.
    public var total = 0.0
    /// libcurl's number of the HTTP version (CURLINFO_HTTP_VERSION(3)).
    public var httpVersion = 0
    /// The number of connections that were made.
    public var connectionsMade = 0
    /// The number of redirects that were followed.
    public var redirects = 0
    /// The local address of the last connection.
    public var localAddress: String?
    /// The remote address of the last connection: the server's, or the proxy's.
    public var remoteAddress: String?
    /// The errno(3) of the last connection attempt that failed; 0 where none was reported.
    public var connectErrno: Int32 = 0

    /// The round trip in seconds: the time that the last connection took to be made; `nil` where a kept one served.
    package var roundTrip: Double? { connectionsMade > 0 && connect > nameLookup ? connect - nameLookup : nil }
    /// Creates empty measurements.
    public init() {}
}

/// An event of an exchange. The loop that carries the exchange delivers it: handlers must be quick.
public enum ExchangeEvent: Sendable {
    /// An answer before the final one (RFC 9110 §15.2), other than 100 and 101.
    case interim(ResponseHead)
    /// The body of an answer begins.
    case responded(BodyStart)
    /// The answer is a redirect. An exchange that asks before it follows one waits for the decision.
    case redirected(RedirectProposal)
    /// A server asks for credentials. Where possible the challenge is answered automatically.
    case challenged(AuthenticationReport)
    /// A machine to which redirects led gets its entry of `.netrc`.
    case netrcUsed(NetrcUse)
    /// The kernel refused the congestion control of a sending connection. It is reported once for each algorithm and
    /// engine.
    case congestionRefused(CongestionUse)
    /// The bytes so far are discarded, for this reason.
    case restarted(reason: String)
    /// The exchange has ended; the event comes once, as the last one.
    case ended(ExchangeOutcome)
}
