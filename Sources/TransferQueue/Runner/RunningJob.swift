import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

/// A job that this process has claimed, from its preparation to its record. Only the runner uses it; other parts get
/// its facts as values.
final class RunningJob {
    /// The phase of a job: `preparing` → `transferring` or `talking` → `saving` (⇄ `comparing`) → recorded and gone. A
    /// stop may come in every phase.
    enum Phase {
        case preparing
        case transferring(ExchangeHandle)
        /// An upload of several requests is under way, in `RunningJob.talk`.
        case talking
        case saving
        /// Wrong bytes from several sources are requested again, as `MixChecks` decides.
        case comparing(ExchangeHandle)
    }

    /// The source of an upload, and the known facts about sent bytes.
    struct Sending {
        /// Whether bytes of the source were sent by a finished upload of several requests.
        var hasLeft = false
        /// Whether this attempt recorded the version that it sends.
        var hasMarkedVersion = false
        /// The source's digest, if it was needed.
        var digest: Checksum?
        /// Whether any of its requests got a part of an answer.
        var wasAnswered = false
        /// Whether a request has left that may have completed what must not be done twice, though no byte was counted.
        var mayBeComplete = false
        /// Whether a watched file was read and proven to have the bytes of an earlier attempt.
        var isProven = false
        /// The change of the upload record that is stored with the job's end or step.
        var left = UploadChange.none
        /// The URL that was requested last, after redirects; redacted.
        var finalURL: String?
    }

    /// The network path of the job.
    struct Way {
        /// The link that the job is bound to; `nil` leaves the choice to the kernel.
        var link: String?
        /// The network in which the job was started (``/TransferScheduling/QueueNetwork/generation``).
        var generation = 0
        /// Whether the job probes if a silent link answers again.
        var isProbe = false
        /// The bytes that have been counted against budgets of metered links.
        var accounted: Int64 = 0
        /// The position of the job at the last check for a stall after a network change.
        var mark: Int64?
        /// The wait for the last answer; `nil` if the kernel reported no round trip.
        var wait: AnswerWait?
        var isPrompt: Bool { wait?.isPrompt == true }
    }

    /// The rule for a file that has the destination's name. After an interruption it may be that of a process that died
    /// before it recorded the job.
    var takenName: DownloadCompletion.TakenName {
        let rules = record.spec.settings.http.front
        return DownloadCompletion.TakenName(
            isTakenForSame: rules.takesSame || record.wasInterrupted, numbersLast: rules.numbersLast)
    }

    /// The position and rate of the job for displays, and its rate limit.
    struct Pace {
        /// The bytes of this attempt that its batch has counted.
        var settled: Int64 = 0
        /// Whether these include the exchange that the job began with.
        var isExchangeSettled = false
        /// The rate of the moved bytes.
        var window = RateWindow()
        /// The furthest reported position since the attempt or the file began anew.
        var furthest: Int64 = 0
        /// The job's own rate limit; `nil` if it began without one.
        let bound: RateLimiter?

        init(limit: Int64?) { bound = limit.map { RateLimiter(rate: $0) } }

        var limiters: [RateLimiter] { bound.map { [$0] } ?? [] }
    }

    let candidate: Scheduler.Candidate
    var record: JobRecord
    var phase = Phase.preparing
    /// The way to stop the job, once the current phase allows it.
    var stop: Stop?
    let meter: ExchangeMeter
    /// The kernel's measurements of the connections of a download.
    let path = PathMeter()
    let started: MonotonicTime
    var ready: ReadyTransfer?
    /// The dialogue of an upload with several requests, while it is under way.
    var talk: UploadTalk?
    /// The map of a download's file, which may get several connections.
    var file: SegmentedFile?
    /// The connections of a download whose server supports parts.
    var segments: SegmentedJob?
    /// The values from the program's own closures; never stored.
    var credentials: [String: String]?
    /// The cookies that servers set during this attempt; the next attempt begins without any.
    let cookies = JourneyCookies()
    /// The beginning of the current answer.
    var start: BodyStart?
    var result: TransferResult?
    var sending = Sending()
    var way = Way()
    var pace: Pace
    let url: String
    /// The record of what its URLs have done, over all its attempts.
    let sources: SourceStatistics
    /// The object that is downloaded, if the URL names one.
    var object: S3Location?
    /// The ID of the key that signed the newest request for the object.
    var accessKey: String?

    init(
        candidate: Scheduler.Candidate, record: JobRecord, started: MonotonicTime, url: String,
        sources: SourceStatistics = SourceStatistics()
    ) {
        meter = ExchangeMeter(path: path)
        self.sources = sources
        sources.begin()
        self.candidate = candidate
        self.record = record
        pace = Pace(limit: record.spec.limitRate)
        pace.window.note(0, at: started)
        self.started = started
        self.url = url
    }

    deinit {
        // The streams hold a reference to the source.
        if case .copy(let source) = ready { source.close() }
    }

    /// Changes a job under way if it need not be interrupted. A rate limit can be changed, but not added, because
    /// buffers were chosen without one.
    ///
    /// - Returns: Whether the change was made.
    func amend(_ accept: JobJudge, _ change: (inout JobSpec) -> Void) -> Bool {
        var spec = record.spec
        change(&spec)
        // New secrets take effect with the next attempt.
        if let opened = try? accept(spec) { spec = opened }
        let limit = spec.settings.limitRate
        guard stop == nil, pace.bound != nil || limit == nil else { return false }
        record.spec = spec
        if let bound = pace.bound {
            bound.setRate(limit)
            for handle in handles { handle.rateChanged() }
        }
        return true
    }

    /// The number of connections that the job may get.
    ///
    /// A job with a required link gets one connection, unless the user names a number. The kernel answers late segments
    /// of an abandoned connection over any link.
    var segmentRequest: ConnectionGrowth.Request {
        guard case .download(let download) = record.spec.work, case .exactly(let count) = download.connections
        else {
            return record.spec.settings.network.require == nil ? .automatic : .exactly(1)
        }
        return .exactly(count)
    }

    /// Leaves an upload record, or none, for the next attempt. The store gets it with the job's end or step.
    func leave(_ upload: UploadRecord?) {
        record.upload = upload
        sending.left = UploadChange(upload)
    }

    /// Whether the source's bytes are known to be the intended ones.
    var isVerified: Bool { sending.digest != nil || sending.isProven }

    /// Whether the job has contacted its server.
    var hasBegun: Bool {
        if case .preparing = phase { return false }
        return true
    }

    /// The exchanges that are under way.
    var handles: [ExchangeHandle] {
        switch phase {
        case .transferring(let handle): [handle] + (segments?.handles ?? [])
        case .talking: talk?.legs.values.map(\.handle) ?? []
        case .comparing(let handle): [handle]
        case .preparing, .saving: []
        }
    }

    var isUnderWay: Bool {
        switch phase {
        case .transferring, .talking: true
        case .preparing, .saving, .comparing: false
        }
    }

    /// The source of an upload, once it is open.
    var source: SourceFile? {
        guard case .upload(let file) = ready else { return nil }
        return file
    }

    /// The bytes of an upload that have arrived, over all its requests.
    private var acknowledged: Int64 { (talk?.acknowledged ?? 0) + meter.acknowledged }

    /// The sent bytes of an upload: by a dialogue's requests, and by the one request before it that had no dialogue.
    var sent: Int64 { (talk?.sent ?? 0) + meter.sent }

    /// The congestion control of its connections, for displays of other processes.
    var congestionNote: [JobSource] {
        guard record.spec.isUpload, let use = meter.congestion ?? talk?.congestion else { return [] }
        var note = JobSource(url: Redaction.url(url), connections: 0)
        note.congestion = use.words
        return [note]
    }

    /// The bytes that were received, or acknowledged by the peer, and that its batch has not counted yet. All numbers
    /// of a transfer under way are derived from this and ``position``.
    var bytesMoved: Int64 {
        guard !pace.isExchangeSettled else { return talk?.acknowledged ?? 0 }
        if record.spec.isUpload { return acknowledged }
        return meter.received + (segments?.received ?? 0)
            + (segments?.connections.values.reduce(0) { $0 + $1.meter.received } ?? 0)
    }

    /// The bytes of the attempt that were moved over the network.
    var movedInAll: Int64 { pace.settled + bytesMoved }

    /// Notes that the batch counts moved bytes.
    func settle(_ moved: Int64) -> Int64 {
        pace.settled += moved
        return moved
    }

    /// Notes that the batch counts the bytes of the job's first exchange.
    func settleExchange(_ moved: Int64) -> Int64 {
        pace.isExchangeSettled = true
        return settle(moved)
    }

    /// The number of bytes of the file in place, here or at the server, for displays. It falls only if the file begins
    /// anew, which is reported.
    var position: Int64 {
        let now = record.spec.isUpload ? talk?.position ?? meter.acknowledged : meter.position
        pace.furthest = max(pace.furthest, total.map { min($0, now) } ?? now)
        return pace.furthest
    }

    /// The size of the file in bytes, if it is known.
    var total: Int64? {
        switch ready {
        case .upload(let file): file.size
        case .copy(let source): source.version?.size
        case .download, nil: meter.total
        }
    }

    /// Whether an answer has begun, or bytes have arrived.
    var isMoving: Bool { start != nil || meter.received > 0 || record.spec.isUpload && position > 0 }

    /// Whether an interruption loses little: the transfer can be continued, or no byte has been sent.
    var canGoOn: Bool {
        if let talk { return record.spec.asksFirst || talk.confirmed > 0 || sent == 0 }
        return !record.spec.isUpload || sent == 0
    }

    /// Whether a body that must not be sent twice has begun to leave, or a request without a body that completes an
    /// upload.
    var mayHaveArrived: Bool {
        if sending.mayBeComplete { return true }
        return record.spec.mustNotRepeat && (talk?.mayBeThere ?? 0) + meter.sent > 0 && talk?.knowsTheWay != true
    }

    /// Returns the facts by which a part of the job's file is requested and recognized.
    ///
    /// - Parameter validator: The validator of the version at the URL's server.
    func part(
        _ range: Range<Int64>, of url: String, _ validator: Validator?, total: Int64?
    ) -> ResumePoint {
        let isProven = if case .download(let download) = record.spec.work { download.isProvenByDigests } else { false }
        var point = ResumePoint(
            offset: range.lowerBound, validator: validator, total: total, isVerifiedByDigest: isProven)
        if url == self.url, let start {
            // The URL is the very resource that gave the beginning.
            point.place = start.place
            if start.url != url { point.placeURL = start.url }
        }
        point.overlap = ResumePoint.overlap(of: url, before: range.lowerBound)
        point.end = range.upperBound
        point.isPart = true
        point.namesEnd = url.hasPrefix("http")
        return point
    }

    /// Returns the receipt of a completed job.
    ///
    /// - Parameter batch: The name of the job's batch.
    func receipt(in batch: String?, path: String, bytes: Int64, digest: Checksum?) -> JobReceipt {
        var receipt = JobReceipt(
            batch: batch ?? "", job: record.identity, isUpload: record.spec.isUpload, bytes: bytes,
            transferred: result?.transferred ?? 0, seconds: (.now - started).inSeconds, digest: digest,
            validator: result?.validator, finalURL: result?.finalURL ?? Redaction.url(url), path: path,
            status: result?.status ?? 0, response: result?.response, attempts: record.attempts + 1,
            unproven: result?.unproven, route: JobRoute(record.$spec))
        receipt.isLengthUnproven = result?.isLengthUnproven ?? false
        receipt.mediaType = result?.mediaType
        receipt.proofs = result?.proofs ?? []
        receipt.contentCoding = result?.contentCoding
        receipt.sources = sources.atEnd(now: MonotonicTime.now.inSeconds)
        return receipt
    }

    enum Stop {
        /// The job returns to the queue unchanged, because the program ends or a user paused it.
        case release(JobState)
        case cancel
    }
}

/// The result of preparation: all that the exchange needs.
enum ReadyTransfer: Sendable {
    case download(ReadyDownload)
    case upload(SourceFile)
    case copy(RemoteSource)
}

struct ReadyDownload: Sendable {
    let part: PartFile
    /// The destination of the file; the server may still name the file in a folder.
    let target: DownloadTarget
    let replacement: OverwriteRule
    var resume: ResumePoint?
    /// The record of the bytes that `resume` continues.
    var earlier: ResumeData?
    /// The number of bytes from the start that survive a loss of power.
    let synced: Int64
    /// The received ranges of a file with holes; empty if it has none.
    var ranges = ByteRanges()
    /// The shares of the sources of a mixed file.
    var mix: MixedFile?
    /// The reading ahead for the digest of a file that came over several connections.
    var ahead: ReadingAhead?
    /// The overlaps of parts of a file that came over several connections.
    var seams: SeamList?
    /// The version of the existing file, which is complete if the resource that gave it answers 304.
    var held: HeldVersion?
    /// The complete file that is replaced, unless its owner gave it up or a digest decides.
    var replaced: HeldFile?
}

/// The result of a successful transfer, without the file.
struct TransferResult: Sendable {
    let status: Int
    /// The redacted URL that answered.
    let finalURL: String
    /// The bytes that were moved over the network.
    var transferred: Int64
    let validator: String?
    let response: String?
    /// The media type of a download, without parameters.
    var mediaType: String?
    /// The proofs that the transfer is complete.
    var proofs: [JobProof] = []
    /// The content coding that was decoded.
    var contentCoding: String?
    /// The number of bytes that another tool fetched and no digest proves.
    var unproven: Int64?
    /// Whether the completeness of the file has no proof.
    var isLengthUnproven = false
}
