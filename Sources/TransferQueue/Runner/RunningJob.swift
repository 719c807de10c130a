import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

/// A job that this process has claimed, from its preparation to its record. The runner's own: what others need of it
/// goes to them as values.
final class RunningJob {
    /// `preparing` → `transferring` or `talking` → `saving` (⇄ `comparing`) → recorded and gone; a stop may come in every
    /// phase.
    enum Phase {
        case preparing
        case transferring(ExchangeHandle)
        /// An upload of several requests: `RunningJob.talk` has them.
        case talking
        case saving
        /// What several sources brought wrongly is asked for again: `MixChecks` has the rest.
        case comparing(ExchangeHandle)
    }

    /// The source of an upload, and the bytes that left of it, as far as they are known.
    struct Sending {
        /// Whether something of the source left, where an upload of several requests is over.
        var hasLeft = false
        /// Whether this attempt wrote down which version it sends.
        var hasMarkedVersion = false
        /// The source's digest, where it was wanted.
        var digest: Checksum?
        /// Something of an answer has come, to any of its requests.
        var wasAnswered = false
        /// Whether a watched file was read, and has the bytes that an earlier attempt was to send.
        var isProven = false
        /// The URL that was asked last, after redirects; redacted.
        var finalURL: String?
    }

    /// The network that it goes by.
    struct Way {
        /// The link that it is bound to; `nil` leaves the choice to the kernel.
        var link: String?
        /// The network that it was started in (``/TransferScheduling/QueueNetwork/generation``).
        var generation = 0
        /// Whether it shows whether a link that was silent answers again.
        var isProbe = false
        /// Bytes that have been counted against budgets of metered links.
        var accounted: Int64 = 0
        /// The position at which the network changed around it.
        var mark: Int64?
        /// How long it waited for the last answer; `nil` where the kernel told no round trip.
        var wait: AnswerWait?
        var isPrompt: Bool { wait?.isPrompt == true }
    }

    /// How far it is and how fast it goes, for rows of a display, and how fast it may go.
    struct Pace {
        /// Bytes that its batch has counted of this attempt.
        var settled: Int64 = 0
        /// Whether the exchange that the job began with is among them.
        var isExchangeSettled = false
        /// The rate of what has moved.
        var window = RateWindow()
        /// The furthest position that was reported since the attempt, or the file, began anew.
        var furthest: Int64 = 0
        /// Its own bound; `nil` where it began without one.
        let bound: RateLimiter?

        init(limit: Int64?) { bound = limit.map { RateLimiter(rate: $0) } }

        var limiters: [RateLimiter] { bound.map { [$0] } ?? [] }
    }

    let candidate: Scheduler.Candidate
    var record: JobRecord
    var phase = Phase.preparing
    /// What to do instead of going on, once the phase that is under way lets go.
    var stop: Stop?
    let meter: ExchangeMeter
    /// The kernel's measurements of the connections of a download.
    let path = PathMeter()
    let started: MonotonicTime
    var ready: ReadyTransfer?
    /// Of an upload of several requests, while it's under way.
    var talk: UploadTalk?
    /// The map of a download's file, which may get several connections.
    var file: SegmentedFile?
    /// Of a download that may get them by what its server answered.
    var segments: SegmentedJob?
    /// Values that the program's own closures gave; never stored.
    var credentials: [String: String]?
    /// Cookies that servers on the way of this attempt set; the next attempt begins without any.
    let cookies = JourneyCookies()
    /// Of the answer that is coming in.
    var start: BodyStart?
    var result: TransferResult?
    var sending = Sending()
    var way = Way()
    var pace: Pace
    let url: String
    /// What its URLs have done, over all its attempts.
    let sources: SourceStatistics
    /// What is downloaded, where the URL names an object.
    var object: S3Location?

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
        // Its streams hold on to it.
        if case .copy(let source) = ready { source.close() }
    }

    /// Makes another job of what is under way where nothing has to be broken off for that: a bound on its rate changes in
    /// place, the first one doesn't, as buffers were chosen without it.
    ///
    /// - Returns: Whether it was done.
    func amend(_ change: (inout JobSpec) -> Void) -> Bool {
        var spec = record.spec
        change(&spec)
        let limit = spec.settings.limitRate
        guard stop == nil, pace.bound != nil || limit == nil else { return false }
        record.spec = spec
        if let bound = pace.bound {
            bound.setRate(limit)
            for handle in handles { handle.rateChanged() }
        }
        return true
    }

    /// How many connections it may get.
    ///
    /// A job with a required link gets one without a number from the user. The kernel answers late segments of a connection
    /// that was given up, and does so over any link.
    var segmentRequest: ConnectionGrowth.Request {
        guard case .download(let download) = record.spec.work, case .exactly(let count) = download.connections
        else {
            return record.spec.settings.network.require == nil ? .automatic : .exactly(1)
        }
        return .exactly(count)
    }

    /// Whether the source's bytes are known to be those that were to be sent.
    var isVerified: Bool { sending.digest != nil || sending.isProven }

    /// Whether it speaks to its server, or is past that.
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

    /// Of an upload, once it's open.
    var source: SourceFile? {
        guard case .upload(let file) = ready else { return nil }
        return file
    }

    /// Bytes of an upload that have arrived, the same.
    private var acknowledged: Int64 { (talk?.acknowledged ?? 0) + meter.acknowledged }

    /// Bytes of an upload that left: with a dialogue's requests, and with the one request before it that had no dialogue.
    var sent: Int64 { (talk?.sent ?? 0) + meter.sent }

    /// The congestion control of its connections, for processes that look on.
    var congestionNote: [JobSource] {
        guard record.spec.isUpload, let use = meter.congestion ?? talk?.congestion else { return [] }
        var note = JobSource(url: Redaction.url(url), connections: 0)
        note.congestion = use.words
        return [note]
    }

    /// Bytes that went over the network, and that its batch has not counted yet: those that came, or those that the peer has
    /// acknowledged. Every number of a transfer under way is made of this and of ``position``.
    var bytesMoved: Int64 {
        guard !pace.isExchangeSettled else { return talk?.acknowledged ?? 0 }
        if record.spec.isUpload { return acknowledged }
        return meter.received + (segments?.received ?? 0)
            + (segments?.connections.values.reduce(0) { $0 + $1.meter.received } ?? 0)
    }

    /// Bytes of the attempt that went over the network.
    var movedInAll: Int64 { pace.settled + bytesMoved }

    /// The batch counts bytes that have moved.
    func settle(_ moved: Int64) -> Int64 {
        pace.settled += moved
        return moved
    }

    /// The batch counts what the exchange moved that the job began with.
    func settleExchange(_ moved: Int64) -> Int64 {
        pace.isExchangeSettled = true
        return settle(moved)
    }

    /// Bytes of the file that are in place, here or at the server: the number that views show. It falls only where the file
    /// begins anew, which is reported.
    var position: Int64 {
        let now = record.spec.isUpload ? talk?.position ?? meter.acknowledged : meter.position
        pace.furthest = max(pace.furthest, total.map { min($0, now) } ?? now)
        return pace.furthest
    }

    /// Bytes of the file, as far as they are known.
    var total: Int64? {
        switch ready {
        case .upload(let file): file.size
        case .copy(let source): source.version?.size
        case .download, nil: meter.total
        }
    }

    /// Whether an answer has begun to come, or bytes have arrived.
    var isMoving: Bool { start != nil || meter.received > 0 || record.spec.isUpload && position > 0 }

    /// Whether little is lost when it's broken off: it goes on where it was, or nothing has been sent.
    var canGoOn: Bool {
        if let talk { return record.spec.asksFirst || talk.confirmed > 0 || sent == 0 }
        return !record.spec.isUpload || sent == 0
    }

    /// Whether a body has begun to leave that must not be sent twice.
    var mayHaveArrived: Bool {
        record.spec.mustNotRepeat && (talk?.mayBeThere ?? 0) + meter.sent > 0 && talk?.knowsTheWay != true
    }

    /// The facts by which a part of its file is asked for, and known.
    ///
    /// - Parameter validator: What the URL's server calls its version.
    func part(
        _ range: Range<Int64>, of url: String, _ validator: Validator?, total: Int64?
    ) -> ResumePoint {
        let isProven = if case .download(let download) = record.spec.work { download.isProvenByDigests } else { false }
        var point = ResumePoint(
            offset: range.lowerBound, validator: validator, total: total, isVerifiedByDigest: isProven)
        if url == self.url, let start {
            // The very resource that gave the beginning.
            point.place = start.place
            if start.url != url { point.placeURL = start.url }
        }
        point.overlap = ResumePoint.overlap(of: url, before: range.lowerBound)
        point.end = range.upperBound
        point.isPart = true
        point.namesEnd = url.hasPrefix("http")
        return point
    }

    /// The receipt of its end.
    ///
    /// - Parameter batch: Its batch's name.
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
        /// Back to the queue as it was: the program ends, or somebody paused it.
        case release(JobState)
        case cancel
    }
}

/// What preparation found: everything the exchange needs.
enum ReadyTransfer: Sendable {
    case download(ReadyDownload)
    case upload(SourceFile)
    case copy(RemoteSource)
}

struct ReadyDownload: Sendable {
    let part: PartFile
    /// Where the file goes, as far as it's known before the server has named it.
    let target: DownloadTarget
    let replacement: OverwriteRule
    var resume: ResumePoint?
    /// What is recorded of the bytes that `resume` goes on with.
    var earlier: ResumeData?
    /// Bytes from the start that survive a loss of power.
    let synced: Int64
    /// What is there of a file with holes; empty where there are none.
    var ranges = ByteRanges()
    /// The shares of those that brought it, of one that came from several sources.
    var mix: MixedFile?
    /// What has been read already of a file that came over several connections.
    var ahead: ReadingAhead?
    /// Bytes that its parts brought once more, of one that came over several connections.
    var seams: SeamList?
    /// The version of the file that is there: where the resource that gave it says 304, that is complete.
    var held: HeldVersion?
    /// The complete file whose place it takes, unless its owner gave that up or a digest decides.
    var replaced: HeldFile?
}

/// What a transfer that succeeded brought, apart from the file.
struct TransferResult: Sendable {
    let status: Int
    /// Redacted.
    let finalURL: String
    /// Bytes over the network.
    var transferred: Int64
    let validator: String?
    let response: String?
    /// Of a download, without its parameters.
    var mediaType: String?
    /// What proves it.
    var proofs: [JobProof] = []
    /// The coding that was taken off.
    var contentCoding: String?
    /// Bytes that another tool has fetched, and nothing proves.
    var unproven: Int64?
    /// Whether nothing proves that the file came whole.
    var isLengthUnproven = false
}
