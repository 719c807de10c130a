import FoundationEssentials
public import TransferCore

/// An upload that is complete only once the server's digest of its copy equals the source's.
///
/// After the upload's own dialogue has ended well, a digest from the server is compared: that of the whole, or an S3
/// ETag that is an MD5. Without one the server is asked by HEAD (Want-Repr-Digest, RFC 9530 §4). As a last resort the
/// whole file is requested and hashed as it comes. The end of the upload itself is saved, so that another attempt only
/// repeats the question.
public struct VerifyingDialogue: UploadDialogue {
    /// The place that answers a question about the upload.
    public struct Place: Sendable {
        /// The URL; `nil` where only the server knows it, and has not reported it.
        var url: String?
        var headers: [HeaderField]
        /// A closure that makes the fields of a GET, which are for it alone; then HEAD is not tried.
        var signed: (@Sendable (Int64) throws(TransferError) -> [HeaderField])?

        /// Creates a place.
        public init(
            url: String?, headers: [HeaderField] = [],
            signed: (@Sendable (Int64) throws(TransferError) -> [HeaderField])? = nil
        ) {
            self.url = url
            self.headers = headers
            self.signed = signed
        }
    }

    private enum Phase: Sendable {
        case uploading
        case computing
        case comparing(Checksum)
        case asking
        case fetching
        case ended
    }

    /// The number of the requests, above those of any dialogue.
    private static let number = 1_000_000_000
    static let kind = "verify"

    private var inner: any UploadDialogue
    private let source: UploadSource
    private let place: @Sendable (UploadResult) -> Place
    private var phase = Phase.uploading
    private var result: UploadResult?
    private var expected: Checksum?

    /// Creates a dialogue.
    ///
    /// - Parameters:
    ///   - state: The state that an earlier attempt saved.
    ///   - place: A closure that returns the place of an upload with that result.
    public init(
        _ inner: any UploadDialogue, source: UploadSource, state: UploadState?,
        place: @escaping @Sendable (UploadResult) -> Place
    ) {
        self.inner = inner
        self.source = source
        self.place = place
        expected = source.digest
        if let state, Self.isVerifying(state) { result = Self.result(state) }
    }

    /// Returns whether the state was saved after the upload itself had ended.
    public static func isVerifying(_ state: UploadState) -> Bool { state.kind == kind }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        guard let result else { return pass(inner.begin(now: now), now) }
        return verify(result, now)
    }

    /// Returns the actions that free the server of the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] {
        guard result == nil else { return [.finish(UploadResult(url: "", status: 0))] }
        return inner.abandon(now: now)
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch phase {
        case .uploading: return pass(inner.handle(event, now: now), now)
        case .computing, .comparing: return digested(event, now)
        case .asking, .fetching: return answered(event, now)
        case .ended: return []
        }
    }

    /// Whether the number of concurrent requests follows the link.
    public var followsLink: Bool {
        if case .uploading = phase { return inner.followsLink }
        return false
    }

    /// Sets the number of concurrent requests.
    public mutating func spread(over requests: Int, now: Int64) -> [UploadAction] {
        followsLink ? pass(inner.spread(over: requests, now: now), now) : []
    }

    private mutating func pass(_ actions: [UploadAction], _ now: Int64) -> [UploadAction] {
        actions.flatMap { action -> [UploadAction] in
            guard case .finish(let result) = action else { return [action] }
            self.result = result
            return [.save(Self.state(result))] + verify(result, now)
        }
    }

    // MARK: Asking

    private mutating func verify(_ result: UploadResult, _ now: Int64) -> [UploadAction] {
        guard let expected else {
            phase = .computing
            return [.digest(id: Self.number, .sha256, 0..<source.size)]
        }
        if let digest = result.digest {
            if digest.algorithm == expected.algorithm { return judge(digest, expected, now) }
            return compare(with: digest)
        }
        if let tag = result.validator.flatMap(Self.md5) { return compare(with: tag) }
        return ask(result, now)
    }

    private mutating func compare(with digest: Checksum) -> [UploadAction] {
        phase = .comparing(digest)
        return [.digest(id: Self.number, digest.algorithm, 0..<source.size)]
    }

    private mutating func digested(_ event: UploadEvent, _ now: Int64) -> [UploadAction] {
        guard case .digested(_, let digest) = event, let result else { return [] }
        guard case .comparing(let servers) = phase else {
            expected = digest
            return verify(result, now)
        }
        if digest == servers { return finish() }
        // An ETag of that form need not be an MD5: encrypted objects have others.
        return result.digest == nil ? ask(result, now) : mismatch(servers)
    }

    private mutating func ask(_ result: UploadResult, _ now: Int64) -> [UploadAction] {
        let place = place(result)
        guard let url = place.url, !url.isEmpty else { return unknownToHTTP("does not say where the upload is") }
        guard place.signed == nil else { return fetch(place, now) }
        phase = .asking
        return [
            .send(
                UploadRequest(
                    id: Self.number, method: "HEAD", url: url,
                    headers: place.headers + [HeaderField("Want-Repr-Digest", "sha-256=10")]))
        ]
    }

    private mutating func fetch(_ place: Place, _ now: Int64) -> [UploadAction] {
        guard let url = place.url else { return unknownToHTTP("does not say where the upload is") }
        phase = .fetching
        var request = UploadRequest(id: Self.number, method: "GET", url: url, headers: place.headers)
        request.digests = .sha256
        do throws(TransferError) {
            if let signed = place.signed {
                request.headers += try signed(now)
                request.ownersFields = .none
            }
        } catch {
            return fail(error)
        }
        return [.send(request)]
    }

    private mutating func answered(_ event: UploadEvent, _ now: Int64) -> [UploadAction] {
        guard let result, let expected else { return [] }
        switch event {
        case .interim, .digested: return []
        case .failed(_, let error, _): return error.isTransient ? fail(error) : unknown(error.message)
        case .answered(let answer):
            let isFetched = if case .fetching = phase { true } else { false }
            if answer.head.status == 200 {
                if let digest = Self.reprDigest(answer.head) { return judge(digest, expected, now) }
                if !isFetched { return fetch(place(result), now) }
                guard answer.head.contentCoding == nil, let digest = answer.digest else {
                    return unknownToHTTP("does not give back what it has")
                }
                return judge(digest, expected, now)
            }
            let error = StatusRule.error(answer.head, now: now)
            if error.isTransient { return fail(error) }
            if !isFetched { return fetch(place(result), now) }
            if let reply = answer.head.value("Server-Reply"), !reply.isEmpty {
                return unknown("the server was asked for it and says: \(reply)")
            }
            return unknownToHTTP("answered \(answer.head.status) to a GET of the upload")
        }
    }

    // MARK: Ends

    private mutating func judge(_ servers: Checksum, _ expected: Checksum, _ now: Int64) -> [UploadAction] {
        servers == expected ? finish() : mismatch(servers)
    }

    private mutating func finish() -> [UploadAction] {
        phase = .ended
        guard var result else { return [] }
        if let expected { result.digest = expected }
        return [.finish(result)]
    }

    /// Fails: the server's copy is wrong, and another attempt sends the file again.
    private mutating func mismatch(_ servers: Checksum) -> [UploadAction] {
        [.restart("the server has other bytes"), .forget]
            + fail(
                TransferError(
                    .checksumMismatch,
                    "the server has \(servers) of \(source.name)\(expected.map { ", which is \($0)" } ?? ""); "
                        + "\(CommandPhrases.retry) sends it again"))
    }

    private mutating func unknownToHTTP(_ why: String) -> [UploadAction] {
        unknown("the server gives no Repr-Digest and \(why)", remedy: "let it give one or answer a GET")
    }

    private mutating func unknown(
        _ why: String, remedy: String = "let the server give it back"
    ) -> [UploadAction] {
        fail(
            TransferError(
                .digestUnknown,
                "\(source.name) was uploaded, but whether it arrived unharmed is not known: \(why); \(remedy), "
                    + "or leave out \(CommandPhrases.choose("--checksum (\"checksum\" in a job file)", "its checksum"))"
            ))
    }

    private mutating func fail(_ error: TransferError) -> [UploadAction] {
        phase = .ended
        return [.fail(error)]
    }

    // MARK: The state

    private struct Saved: Codable {
        var url: String
        var status: Int
        var validator: String?
        var digest: String?
        var region: String?
    }

    private static func state(_ result: UploadResult) -> UploadState {
        let saved = Saved(
            // Without its secrets, which are never stored, the URL would lead elsewhere.
            url: Redaction.hasSecret(result.url) ? "" : result.url, status: result.status, validator: result.validator,
            digest: result.digest?.description, region: result.region)
        // Strings and integers can always be encoded.
        return state(payload: (try? JSONEncoder().encode(saved)).map { String(decoding: $0, as: UTF8.self) } ?? "")
    }

    private static func state(payload: String) -> UploadState {
        UploadState(kind: kind, canAsk: true, isHeld: false, payload: payload)
    }

    static func state(earlier text: String) -> UploadState? {
        UploadState.payload(of: text, after: "verify:").map { state(payload: $0) }
    }

    private static func result(_ state: UploadState) -> UploadResult? {
        guard let saved = try? JSONDecoder().decode(Saved.self, from: Data(state.payload.utf8))
        else { return nil }
        return UploadResult(
            url: saved.url, status: saved.status, validator: saved.validator,
            digest: saved.digest.flatMap { Checksum($0) }, region: saved.region)
    }

    /// Returns the digest in an S3 ETag of an object that was sent in one piece.
    private static func md5(_ validator: String) -> Checksum? {
        Checksum(.md5, hex: validator.drop { $0 == "\"" }.prefix { $0 != "\"" })
    }

    /// Returns a SHA-256 from `Repr-Digest`: a dictionary of byte sequences (RFC 9530 §3, RFC 8941 §3.3.5).
    static func reprDigest(_ head: ResponseHead) -> Checksum? {
        guard let field = head.value("Repr-Digest") else { return nil }
        for member in field.split(separator: ",") {
            let text = member.drop { $0 == " " || $0 == "\t" }
            guard let equals = text.firstIndex(of: "="), text[..<equals] == "sha-256" else { continue }
            let value = text[text.index(after: equals)...].prefix { $0 != ";" && $0 != " " }
            guard value.count > 2, value.first == ":", value.last == ":",
                let bytes = Base64.decode(value.dropFirst().dropLast()), bytes.count == 32
            else { continue }
            return Checksum(.sha256, bytes: bytes)
        }
        return nil
    }
}
