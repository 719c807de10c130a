import TransferCore
import TransferCrypto

/// An upload to S3, or to a server with its API.
///
/// A small file is one request. A larger one is a multipart upload, whose parts are sent concurrently. Another process
/// resumes it by ListParts ("Uploading and copying objects using multipart upload" of the S3 user guide).
///
/// The creation of an upload is recorded before its request, so that an attempt which ends before the answer leaves no
/// orphan (``S3Stray``).
///
/// After a lost answer the server is asked before anything is sent again. An object counts as this upload's if it has
/// its size and the expected tag or digest.
public struct S3Dialogue: UploadDialogue {
    var location: S3Location
    private let given: S3Credentials
    /// A closure that returns the newest credentials, for credentials that expire while the upload is under way.
    package var renewedCredentials: (@Sendable () -> S3Credentials?)?
    let source: UploadSource
    let options: S3Options
    private let saved: UploadState?
    private(set) var pending: [Int: S3PendingRequest] = [:]
    private(set) var digesting: [Int: S3DigestPurpose] = [:]
    var multipart: S3Multipart?
    private var lastID = 0
    var namedRegion: String?
    private var hasChangedRegion = false
    var hasRestarted = false
    var detours = Detours()
    /// The bytes that were sent in bodies whose tags are their digests.
    var tagged: Int64 = 0
    private var hasEnded = false
    /// The number of parts that are sent concurrently.
    private(set) var parallel: Int

    /// Creates an upload.
    ///
    /// - Parameter state: The state of the last ``UploadAction/save(_:)`` of an earlier attempt for the same object and
    ///   source.
    public init(
        location: S3Location, credentials: S3Credentials, source: UploadSource, options: S3Options = S3Options(),
        state: UploadState? = nil
    ) {
        self.location = location
        given = credentials
        self.source = source
        self.options = options
        saved = state
        parallel = options.parallel ?? UploadSpread.initial
    }

    /// Whether parts are being sent whose number follows the link.
    public var followsLink: Bool {
        options.parallel == nil && !source.isStreamed && !hasEnded && multipart.map { $0.completion == nil } == true
    }

    /// Sets the number of concurrent parts.
    public mutating func spread(over requests: Int, now: Int64) -> [UploadAction] {
        guard followsLink else { return [] }
        parallel = max(1, requests)
        // No part is sent before the server has listed its parts.
        guard pending.values.contains(where: \.exchange.isPart) else { return [] }
        return catching { dialogue throws(TransferError) in try dialogue.advance(now) }
    }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        catching { dialogue throws(TransferError) in try dialogue.resume(now) }
    }

    /// Returns the actions that abort the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] {
        catching { dialogue throws(TransferError) in
            let state = dialogue.saved.flatMap { S3State($0) }
            guard dialogue.adopt(state) else {
                if case .creating(let since, _) = state?.stage {
                    return [try dialogue.send(.stray(S3Stray(since: since, isGivenUp: true)), now)]
                }
                // The server has no part of the upload, and a complete object is not removed.
                return dialogue.end(.finish(UploadResult(url: dialogue.location.url, status: 204)))
            }
            return [try dialogue.send(.abort(thenRestart: nil), now)]
        }
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        guard !hasEnded else { return [] }
        return catching { dialogue throws(TransferError) in
            switch event {
            case .interim: return []
            case .answered(let answer):
                guard let request = dialogue.pending.removeValue(forKey: answer.request) else { return [] }
                do throws(TransferError) {
                    return try dialogue.answered(request.exchange, answer, now)
                } catch {
                    throw request.signing(error)
                }
            case .failed(let request, let error, _):
                guard let request = dialogue.pending.removeValue(forKey: request) else { return [] }
                return try dialogue.failed(request.exchange, error, now)
            case .digested(let id, let checksum):
                guard let purpose = dialogue.digesting.removeValue(forKey: id) else { return [] }
                return try dialogue.digested(purpose, checksum, now)
            }
        }
    }

    // MARK: - Beginning

    private mutating func resume(_ now: Int64) throws(TransferError) -> [UploadAction] {
        guard let saved else { return try start(now) }
        guard let state = S3State(saved) else { return try restart("its record cannot be read", now) }
        guard adopt(state) else {
            // The upload may have been created without a received answer.
            if case .creating(let since, let tries) = state.stage {
                return [try send(.stray(S3Stray(since: since, tries: tries)), now)]
            }
            // An object of an earlier single request may exist; a source of another size cannot be that object.
            return state.size == source.size ? [try send(.head(.put), now)] : try start(now)
        }
        guard state.size == source.size else {
            return [try send(.abort(thenRestart: "the source has another size now"), now)]
        }
        return [try send(.list(after: 0), now)]
    }

    /// Takes over a saved state.
    ///
    /// - Returns: Whether the state is that of a multipart upload, which this dialogue continues.
    private mutating func adopt(_ state: S3State?) -> Bool {
        if let region = state?.region, let other = location.inRegion(region) {
            location = other
            namedRegion = region
        }
        guard case .multipart(let uploadID, let partSize, let keepsChecksums, let completion) = state?.stage,
            let state, let parts = S3Parts(size: state.size, partSize: partSize)
        else { return false }
        multipart = S3Multipart(
            uploadID: uploadID, integrity: keepsChecksums ? .storedSHA256 : partIntegrity, parts: parts,
            completion: completion)
        return true
    }

    /// Begins the upload.
    ///
    /// - Parameter isSaved: Whether a record of the single request exists already.
    mutating func start(_ now: Int64, isSaved: Bool = false) throws(TransferError) -> [UploadAction] {
        guard source.size == 0 || source.size <= min(options.threshold, S3Options.maxRequestSize) else {
            return [save(.creating(since: now, tries: 0)), try send(.create, now)]
        }
        let saving = isSaved ? [] : [save(.single)]
        guard let algorithm = options.integrity.digest else { return saving + [try send(.put(nil), now)] }
        if let known = try knownDigest(algorithm) { return saving + [try send(.put(known), now)] }
        // The tag from the server is compared with the sent bytes.
        if source.isStreamed { return saving + [try send(.put(nil), now)] }
        return saving + [digest(.put, algorithm, 0..<source.size)]
    }

    /// Begins anew, once in an attempt: a server that loses everything twice would loop forever.
    mutating func restart(_ reason: String, _ now: Int64) throws(TransferError) -> [UploadAction] {
        guard !hasRestarted else {
            throw TransferError(.badResponse, "the server lost the upload again: \(reason)", isTransient: true)
        }
        hasRestarted = true
        let stops = stopAll()
        multipart = nil
        return stops + [.restart(reason), .confirmed(0)] + (try start(now))
    }

    // MARK: - Asking and ending

    mutating func send(_ exchange: S3Exchange, _ now: Int64) throws(TransferError) -> UploadAction {
        lastID += 1
        let credentials = renewedCredentials?() ?? given
        let request = try request(lastID, exchange, credentials, now)
        pending[lastID] = S3PendingRequest(exchange: exchange, accessKey: credentials.accessKey)
        return .send(request)
    }

    mutating func digest(
        _ purpose: S3DigestPurpose, _ algorithm: DigestAlgorithm, _ range: Range<Int64>
    ) -> UploadAction {
        lastID += 1
        digesting[lastID] = purpose
        return .digest(id: lastID, algorithm, range)
    }

    /// The proof of integrity that a part carries: none where its bytes only come while it is sent.
    var partIntegrity: S3Options.Integrity {
        if source.isStreamed { return .none }
        return options.integrity == .storedSHA256 ? .sha256 : options.integrity
    }

    /// Returns the digest of the whole source without reading it, if it is known.
    func knownDigest(_ algorithm: DigestAlgorithm) throws(TransferError) -> Checksum? {
        if source.size == 0 { return try Digest.of([], algorithm) }
        return source.digest?.algorithm == algorithm ? source.digest : nil
    }

    mutating func end(_ action: UploadAction) -> [UploadAction] {
        hasEnded = true
        return stopAll() + [action]
    }

    /// Returns the actions that repeat a request in the region that the answer names.
    ///
    /// The value is `nil` if the region is not the fault, or was changed already.
    mutating func repeatInNamedRegion(
        _ exchange: S3Exchange, _ answer: UploadAnswer, _ now: Int64
    ) throws(TransferError) -> [UploadAction]? {
        guard !hasChangedRegion, let other = location.otherRegion(answer.head, body: answer.body) else { return nil }
        hasChangedRegion = true
        location = other
        namedRegion = other.region
        // The next attempt's first question may be a HEAD, whose answer has no body that could name the region.
        if case .put = exchange { return [save(.single), try send(exchange, now)] }
        return [try send(exchange, now)]
    }

    func save(_ stage: S3State.Stage) -> UploadAction {
        .save(S3State(size: source.size, region: namedRegion, stage: stage).saved)
    }

    private mutating func stopAll() -> [UploadAction] {
        defer {
            pending = [:]
            digesting = [:]
        }
        return pending.keys.sorted().map { .stop(request: $0) }
    }

    private mutating func catching(
        _ body: (inout S3Dialogue) throws(TransferError) -> [UploadAction]
    ) -> [UploadAction] {
        do throws(TransferError) {
            return try body(&self)
        } catch {
            return end(.fail(error))
        }
    }
}
