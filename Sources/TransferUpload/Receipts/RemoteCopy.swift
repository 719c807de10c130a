import TransferCore

/// Finds out whether what a server has at a URL is the source.
///
/// The server's copy has to have the source's size, and its content is compared: with a digest that the server gives
/// (Repr-Digest, RFC 9530), or by reading back what is no longer than ``comparedAtMost``. What was there before, and what
/// an earlier version of the file left, may have the same size. Where the content can't be compared, what is there counts
/// as ours when it was modified since the attempt began: by the server's own clock (Last-Modified beside Date, RFC 9110
/// §8.8.2 and §6.6.1), and by both clocks together, with ``tolerance`` to spare; where the server has accepted the file, also
/// within that.
struct RemoteCopy: Sendable {
    enum Finding: Sendable {
        case same(UploadAnswer, Checksum?)
        /// Something else is there.
        case other
        case missing
        /// The server doesn't say.
        case unknown(UploadAnswer)
        case failed(TransferError)
    }

    enum Step: Sendable {
        case perform([UploadAction])
        case found(Finding)
    }

    private enum Phase {
        case asking
        /// `isRecent`: whether what is there counts as ours unless its content says otherwise.
        case fetching(isRecent: Bool)
        /// Until the source has been hashed.
        case comparing(Checksum, UploadAnswer)
    }

    /// When what is there was modified, as seen from the attempt's beginning; `atItsBegin` within what clocks may be off.
    private enum Age { case earlier, unclear, atItsBegin, later }

    /// Bytes; to read back more costs as much as to send it again.
    static let comparedAtMost: Int64 = 64 << 20
    /// The requests' numbers.
    static let numbers = (head: 900_000_001, get: 900_000_002)
    /// The most that clocks of seconds, and a server that is busy, may be off; in seconds.
    private static let tolerance: Int64 = 2

    private let url: String
    private let source: UploadSource
    /// Seconds since 1970, by this machine's clock.
    private let began: Int64
    private let wasAccepted: Bool
    private var phase = Phase.asking
    private var asked: Int64 = 0

    /// - Parameter wasAccepted: Whether the server has said that it took the file, and only whether it has it is open: then one
    ///   that doesn't answer HEAD is asked by GET.
    init(url: String, source: UploadSource, began: Int64, wasAccepted: Bool = false) {
        self.url = url
        self.source = source
        self.began = began
        self.wasAccepted = wasAccepted
    }

    mutating func begin(now: Int64) -> [UploadAction] {
        asked = now
        let request = HeaderField("Want-Repr-Digest", "sha-256=10")
        return [.send(UploadRequest(id: Self.numbers.head, method: "HEAD", url: url, headers: [request]))]
    }

    mutating func handle(_ event: UploadEvent, now: Int64) -> Step {
        switch (phase, event) {
        case (.asking, .answered(let answer)): return reported(answer, now)
        case (.fetching(let isRecent), .answered(let answer)): return fetched(answer, isRecent)
        case (.comparing(let servers, let answer), .digested(_, let digest)):
            return .found(digest == servers ? .same(answer, servers) : .other)
        case (_, .failed(_, let error, _)): return .found(.failed(error))
        default: return .perform([])
        }
    }

    /// The answer to HEAD.
    private mutating func reported(_ answer: UploadAnswer, _ now: Int64) -> Step {
        let head = answer.head
        switch head.status {
        case 200: break
        case 404, 410: return .found(.missing)
        case 405, 501:
            return wasAccepted && source.size <= Self.comparedAtMost ? fetch(isRecent: false) : .found(.unknown(answer))
        default: return .found(.unknown(answer))
        }
        guard head.contentLength == source.size, isOfItsCoding(head) else { return .found(.other) }
        if let digest = ReprDigest.value(head, preferred: algorithm) { return compare(digest, answer) }
        let age = age(head, now)
        guard age != .earlier else { return .found(.other) }
        // A version that nobody knows to be this one is no other's for its age.
        let isRecent = !source.mayHaveChanged && (age == .later || wasAccepted && age == .atItsBegin)
        guard source.size <= Self.comparedAtMost else { return .found(isRecent ? .same(answer, nil) : .other) }
        return fetch(isRecent: isRecent)
    }

    private mutating func fetch(isRecent: Bool) -> Step {
        phase = .fetching(isRecent: isRecent)
        var request = UploadRequest(id: Self.numbers.get, method: "GET", url: url)
        request.digests = algorithm
        return .perform([.send(request)])
    }

    private mutating func fetched(_ answer: UploadAnswer, _ isRecent: Bool) -> Step {
        guard answer.head.status == 200, isOfItsCoding(answer.head), let digest = answer.digest else {
            if isRecent { return .found(.same(answer, nil)) }
            return .found([404, 410].contains(answer.head.status) ? .missing : .unknown(answer))
        }
        return compare(digest, answer)
    }

    private mutating func compare(_ servers: Checksum, _ answer: UploadAnswer) -> Step {
        if let known = source.digest, known.algorithm == servers.algorithm {
            return .found(known == servers ? .same(answer, servers) : .other)
        }
        phase = .comparing(servers, answer)
        return .perform([.digest(id: 1, servers.algorithm, 0..<source.size)])
    }

    /// Whether what comes are the stored bytes: a server that codes them on the way brings others.
    private func isOfItsCoding(_ head: ResponseHead) -> Bool {
        RepresentationLabels.isSameCoding(head.contentCoding, source.labels?.coding)
    }

    private var algorithm: DigestAlgorithm { source.digest?.algorithm ?? .sha256 }

    private func age(_ head: ResponseHead, _ now: Int64) -> Age {
        guard let modified = head.value("Last-Modified").flatMap({ HTTPDate.parse($0) }),
            let date = head.value("Date").flatMap({ HTTPDate.parse($0) }), modified <= date + Self.tolerance
        else { return .unclear }
        // The server dated its answer between the question and now.
        if date - modified > now - began + Self.tolerance { return .earlier }
        guard date - modified + Self.tolerance < asked - began else { return .atItsBegin }
        // A clock of this machine that was set meanwhile makes the attempt older than it is.
        return modified > began + Self.tolerance ? .later : .atItsBegin
    }
}
