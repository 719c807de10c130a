import TransferCore

/// A PUT after an earlier attempt of which all, a part or nothing may have arrived: its answer was lost, or its process
/// died. The server is asked what it has, and the file is sent only if that isn't the file.
///
/// What is there has to have the source's size, and its content is compared: with a digest that the server gives
/// (Repr-Digest, RFC 9530), or by reading back what is no longer than ``comparedAtMost``. What was there before, and what
/// an earlier version of the file left, may have the same size. Where the content can't be compared, what is there counts
/// as ours when it was modified since that attempt began: by the server's own clock (Last-Modified beside Date, RFC 9110
/// §8.8.2 and §6.6.1), and by both clocks together, with ``tolerance`` to spare.
public struct ConfirmingPut: UploadDialogue {
    private enum Phase {
        case asking
        /// `isLater`: whether what is there was modified since the attempt began.
        case fetching(isLater: Bool)
        /// Until the source has been hashed.
        case comparing(Checksum, UploadAnswer)
        case sending
    }

    private enum Age { case earlier, unclear, later }

    /// Bytes; to read back more costs as much as to send it again.
    static let comparedAtMost: Int64 = 64 << 20
    private static let mark = "put:"
    /// What clocks of seconds, and a server that is busy, may be off; in seconds.
    private static let tolerance: Int64 = 2

    private let url: String
    private let source: UploadSource
    /// Seconds since 1970, by this machine's clock.
    private let began: Int64
    private var otherwise: any UploadDialogue
    private var phase = Phase.asking
    private var asked: Int64 = 0

    /// - Parameters:
    ///   - state: What ``state(began:)`` gave.
    ///   - otherwise: How the file is sent if it isn't there; one request where there is none.
    /// - Returns: `nil` for the state of another protocol.
    public init?(
        url: String, method: String = "PUT", source: UploadSource, state: String,
        otherwise: (any UploadDialogue)? = nil
    ) {
        guard Self.isState(state), let began = Int64(state.dropFirst(Self.mark.count)) else { return nil }
        self.url = url
        self.source = source
        self.began = began
        self.otherwise = otherwise ?? PlainPut(url: url, method: method, source: source)
    }

    /// What to keep of an attempt of which all may have arrived.
    ///
    /// - Parameter began: Seconds since 1970, by this machine's clock.
    public static func state(began: Int64) -> String { mark + String(began) }

    public static func isState(_ text: String) -> Bool { text.hasPrefix(mark) }

    public mutating func begin(now: Int64) -> [UploadAction] {
        asked = now
        let wish = HeaderField("Want-Repr-Digest", "sha-256=10")
        return [.send(UploadRequest(id: 1, method: "HEAD", url: url, headers: [wish]))]
    }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch (phase, event) {
        case (.sending, _): return otherwise.handle(event, now: now)
        case (.asking, .answered(let answer)): return told(answer, now)
        case (.fetching(let isLater), .answered(let answer)): return fetched(answer, isLater, now)
        case (.comparing(let servers, let answer), .digested(_, let digest)):
            return digest == servers ? [finish(answer, servers)] : send(now)
        case (_, .failed(_, let error, _)): return [.fail(error)]
        default: return []
        }
    }

    /// There is nothing that a server would hold.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }

    // MARK: What is there

    /// The answer to HEAD.
    private mutating func told(_ answer: UploadAnswer, _ now: Int64) -> [UploadAction] {
        let head = answer.head
        guard head.status == 200, head.contentLength == source.size, head.contentCoding == nil else { return send(now) }
        if let digest = ReprDigest.value(head, preferred: algorithm) { return compare(digest, answer, now) }
        let age = age(head, now)
        guard age != .earlier else { return send(now) }
        guard source.size <= Self.comparedAtMost else {
            return age == .later ? [finish(answer, nil)] : send(now)
        }
        phase = .fetching(isLater: age == .later)
        var request = UploadRequest(id: 2, method: "GET", url: url)
        request.digests = algorithm
        return [.send(request)]
    }

    private mutating func fetched(_ answer: UploadAnswer, _ isLater: Bool, _ now: Int64) -> [UploadAction] {
        guard answer.head.status == 200, answer.head.contentCoding == nil, let digest = answer.digest else {
            return isLater ? [finish(answer, nil)] : send(now)
        }
        return compare(digest, answer, now)
    }

    private mutating func compare(_ servers: Checksum, _ answer: UploadAnswer, _ now: Int64) -> [UploadAction] {
        if let known = source.digest, known.algorithm == servers.algorithm {
            return known == servers ? [finish(answer, servers)] : send(now)
        }
        phase = .comparing(servers, answer)
        return [.digest(id: 1, servers.algorithm, 0..<source.size)]
    }

    private var algorithm: DigestAlgorithm { source.digest?.algorithm ?? .sha256 }

    private func age(_ head: ResponseHead, _ now: Int64) -> Age {
        guard let modified = head.value("Last-Modified").flatMap({ HTTPDate.parse($0) }),
            let date = head.value("Date").flatMap({ HTTPDate.parse($0) }), modified <= date + Self.tolerance
        else { return .unclear }
        // The server dated its answer between the question and now.
        if date - modified > now - began + Self.tolerance { return .earlier }
        guard date - modified + Self.tolerance < asked - began else { return .unclear }
        // A clock of this machine that was set meanwhile makes the attempt older than it is.
        return modified > began + Self.tolerance ? .later : .unclear
    }

    private func finish(_ answer: UploadAnswer, _ digest: Checksum?) -> UploadAction {
        .finish(
            UploadResult(
                url: answer.url, status: answer.head.status, validator: Validator(answer.head)?.description,
                digest: digest))
    }

    // MARK: Sending

    private mutating func send(_ now: Int64) -> [UploadAction] {
        phase = .sending
        return otherwise.begin(now: now)
    }
}
