import TransferCore

/// The check whether the file at a URL is the source.
///
/// The server's copy must have the source's size, and its content is compared. The comparison uses a digest from the
/// server (Repr-Digest, RFC 9530), or reads back a file of at most ``comparedAtMost``. An older file, or an earlier
/// version of this one, may have the same size.
///
/// A file whose content cannot be compared counts as ours when it was modified since the attempt began. That must
/// hold by the server's own clock (Last-Modified beside Date, RFC 9110 §8.8.2 and §6.6.1), and by both clocks together,
/// beyond a ``tolerance``. Where the server has accepted the file, a time within the tolerance suffices.
struct RemoteCopy: Sendable {
    enum Finding: Sendable {
        case same(UploadAnswer, Checksum?)
        /// A different file exists.
        case other
        case missing
        /// The server does not answer the question.
        case unknown(UploadAnswer)
        case failed(TransferError)
    }

    enum Step: Sendable {
        case perform([UploadAction])
        case found(Finding)
    }

    private enum Phase {
        case asking
        /// The file is read back. `isRecent` means that it counts as ours unless its content differs.
        case fetching(isRecent: Bool)
        /// The source is being hashed.
        case comparing(Checksum, UploadAnswer)
    }

    /// The modification time relative to the attempt's beginning; `atItsBegin` is within the tolerance of clocks.
    private enum Age { case earlier, unclear, atItsBegin, later }

    /// The longest file in bytes that is read back; for a longer one that costs as much as sending it again.
    static let comparedAtMost: Int64 = 64 << 20
    /// The numbers of the requests.
    static let numbers = (head: 900_000_001, get: 900_000_002)
    /// The tolerance in seconds for clocks of whole seconds and a busy server.
    private static let tolerance: Int64 = 2

    private let url: String
    private let source: UploadSource
    /// The begin of the attempt in seconds since 1970, by the local clock.
    private let began: Int64
    private let wasAccepted: Bool
    private var phase = Phase.asking
    private var asked: Int64 = 0

    /// Creates a check.
    ///
    /// - Parameter wasAccepted: Whether the server has said that it took the file, so that only its existence is open.
    ///   A server that does not answer HEAD is then asked by GET.
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

    /// Handles the answer to HEAD.
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
        // The age of a file proves nothing if the source may have changed.
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

    /// Returns whether the stored bytes come: a server that encodes them for the transfer brings others.
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
        // A local clock that was set meanwhile makes the attempt seem older than it is.
        return modified > began + Self.tolerance ? .later : .atItsBegin
    }
}
