import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

/// The part of the runner that downloads over several connections need.
protocol SegmentHost: PartHost {
    var segmented: SegmentedDownloads { get }
    var jobs: Dictionary<Int64, RunningJob>.Values { get }
    func underWay(_ id: Int64) -> RunningJob?
    func transferMarked(_ id: Int64, _ job: RunningJob)
    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, left: PartialFileOutcome, progressed: Bool)
    /// Returns how many more connections the origin may have; negative if jobs wait for places that parts occupy.
    func spareConnections(to origin: String) -> Int
    /// Returns for how long the origin's answers ask for a pause; `nil` if they do not.
    func pause(of origin: String) -> Duration?
    func connectionOpened(to origin: String)
    func connectionClosed(to origin: String)
    /// Notes a refused connection. This is called before ``connectionClosed(to:)``.
    func connectionFailed(to origin: String, _ refusal: ConcurrencyBackoff.Refusal, since: MonotonicTime)
    /// Builds the request for a part.
    ///
    /// - Parameter point: The part to request.
    func partRequest(_ job: RunningJob, url: String, _ point: ResumePoint) throws(TransferError) -> ExchangeRequest
    /// Returns whether the job's sources have not brought a wrong file together.
    func mayMix(_ job: RunningJob) -> Bool
    /// Returns whether the job's server sends the parts that it is asked for.
    func mayDivide(_ job: RunningJob) -> Bool
    /// Handles the common end of all exchanges of the file.
    func exchangeEnded(_ job: RunningJob, _ outcome: ExchangeOutcome)
}

/// The downloads over several connections. It opens and closes connections, gives each its part, and combines their
/// ends into one.
///
/// Only the file's first exchange handles unexpected answers (begin anew, set aside, return to the job's own URL). The
/// others are strict: any answer but their part of the same version ends them, and never the file.
final class SegmentedDownloads {
    let engine: any ExchangePerformer

    /// The least size of a file for several connections, in bytes.
    static let smallest: Int64 = 4 << 20
    /// The least bytes per connection of a file that begins with the number of connections of an earlier file.
    private static let smallestShare: Int64 = 1 << 20
    /// The time between reviews of files: while the number of connections of a young file grows, and later.
    static let interval = (growing: Duration.milliseconds(50), later: Duration.milliseconds(200))
    static let growingTime = Duration.seconds(10)
    /// The time that a connection gets to show its rate.
    static let proving = Duration.seconds(1)
    /// The time without bytes after which a connection is given up while others deliver.
    static let stall = Duration.seconds(3)

    /// The time within which a mirror must begin to answer while other mirrors are untried. In the next round, the
    /// job's own limit applies.
    static let mirrorPatience = Duration.seconds(2)

    /// Whether there is a young file.
    var isGrowing = true
    /// The best numbers of connections that earlier files found at their hosts.
    private var found = FoundConnections()

    init(engine: any ExchangePerformer) { self.engine = engine }

    // MARK: The first exchange

    /// Prepares a download that is about to begin or to continue.
    func prepare(
        _ job: RunningJob, _ ready: ReadyDownload, _ recorder: @escaping ResumeRecorder, _ limiters: [RateLimiter],
        on host: isolated some SegmentHost
    ) {
        let id = job.candidate.id
        guard case .download(let download) = job.record.spec.work,
            download.connections.mayBeMany && host.mayDivide(job) || !ready.ranges.isEmpty
        else { return host.transferMarked(id, job) }
        let file = SegmentedFile(
            ready.part, meter: job.meter, workers: engine.workers, limiters: limiters, recorder: recorder,
            algorithm: job.record.spec.checksum?.algorithm)
        job.file = file
        guard let record = ready.earlier, let total = record.total, !ready.ranges.isEmpty else {
            return host.transferMarked(id, job)
        }
        engine.workers.execute { [host] in
            let end = Result { () throws(TransferError) -> Int64? in
                do throws(TransferError) {
                    return try file.resume(record, received: ready.ranges, total: total)
                } catch {
                    // Without a map, the bytes behind the first hole are fetched again.
                    try ready.part.truncate(to: ready.ranges.prefixLength)
                    return nil
                }
            }
            host.loop.execute {
                host.onLoop { host in
                    if let job = host.underWay(id) { host.segmented.prepared(job, end, on: host) }
                    host.pump()
                }
            }
        }
    }

    private func prepared(
        _ job: RunningJob, _ end: Result<Int64?, TransferError>, on host: isolated some SegmentHost
    ) {
        guard case .download(var ready) = job.ready else { return }
        switch end {
        case .success(let end):
            if end == nil { job.file = nil }
            ready.resume?.end = end
            job.ready = .download(ready)
            host.transferMarked(job.candidate.id, job)
        case .failure(let error):
            job.file = nil
            host.failed(job, error, bodyLeft: false, left: .untouched, progressed: false)
        }
    }

    /// Takes the beginning of the server's answer.
    func responded(_ job: RunningJob, _ start: BodyStart, on host: isolated some SegmentHost) {
        guard let file = job.file, job.segments == nil, let total = start.total, total >= Self.smallest || file.isSplit
        else { return }
        let segments = SegmentedJob(
            file, job.segmentRequest, sources(job, on: host), path: job.path, hasFailed: job.record.attempts > 0)
        segments.leadBegan = (start.offset, .now)
        segments.sources.isFirstUnderWay = true
        segments.isDivisible = Self.isDivisible(job, start)
        segments.sources.answered(0, Validator(start.head))
        // A mirror may have refused the attempt before this one, with a Retry-After.
        for (index, origin) in segments.origins.enumerated().dropFirst() {
            guard let pause = host.pause(of: origin) else { continue }
            segments.sources.pause(index, until: (MonotonicTime.now + pause).inSeconds)
        }
        if file.isSplit { segments.phase = .open }
        job.segments = segments
        if !job.sources.isOpen(job.url) { job.sources.opened(job.url, now: MonotonicTime.now.inSeconds) }
        guard segments.isDivisible else { return }
        // All sources are tried at once, because only that shows which of them is fast.
        segments.growth.begins(with: segments.sources.all.count)
        if let count = found.count(at: job.candidate.lane.origin, now: .now) {
            segments.growth.begins(with: min(count, Int(total / Self.smallestShare)), of: ConnectionGrowth.most)
        }
        if segments.growth.wanted > 1 { look(job, on: host) }
        isGrowing = true
        schedule(on: host)
    }

    /// Returns the URL that the file was begun with, and the other mirrors if digests judge the whole.
    private func sources(_ job: RunningJob, on host: isolated some SegmentHost) -> [SegmentedJob.Place] {
        let own = SegmentedJob.Place(url: job.url, origin: job.candidate.lane.origin)
        guard case .download(let download) = job.record.spec.work, download.isProvenByDigests, host.mayMix(job) else {
            return [own]
        }
        return [own]
            + download.urls.indices.filter { download.urls[$0] != job.url }.map {
                SegmentedJob.Place(url: download.urls[$0], origin: job.record.spec.origin(mirror: $0))
            }
    }

    /// Returns whether parts can be requested, and recognized as parts of the same version.
    private static func isDivisible(_ job: RunningJob, _ start: BodyStart) -> Bool {
        guard case .download(let download) = job.record.spec.work, (download.method ?? "GET") == "GET",
            download.body == nil, start.isContinuable, start.head.contentCoding == nil
        else { return false }
        // The server answered with the whole file although bytes of it were there, so it refused the range.
        guard start.offset > 0 || start.overlap == 0 else { return false }
        guard start.head.status == 206 || start.head.value("Accept-Ranges")?.lowercased() == "bytes" else {
            return false
        }
        return Validator(start.head)?.ifRange != nil || download.isProvenByDigests
    }

    /// Takes the end of the first exchange.
    ///
    /// - Returns: Whether the download's end comes later, because other connections still fetch the file or several
    ///   filled it.
    func leadEnded(_ job: RunningJob, _ outcome: ExchangeOutcome, on host: isolated some SegmentHost) -> Bool {
        guard let file = job.file else { return false }
        let segments = job.segments ?? SegmentedJob(file, .exactly(1), sources(job, on: host), path: job.path)
        guard file.isSplit || segments.phase == .preparing, segments.lead == nil else {
            (job.segments, job.file) = (nil, nil)
            return false
        }
        job.segments = segments
        segments.lead = outcome
        segments.sources.isFirstUnderWay = false
        job.sources.closed(job.url, bytes: outcome.received, now: MonotonicTime.now.inSeconds)
        // The map that a worker is making still belongs to this file.
        guard segments.phase != .preparing else { return true }
        segments.phase = .open
        leadIsOver(job, segments, outcome, on: host)
        return true
    }

    func leadIsOver(
        _ job: RunningJob, _ segments: SegmentedJob, _ outcome: ExchangeOutcome, on host: isolated some SegmentHost
    ) {
        // If it ended before it knew of the map, its last bytes are missing there.
        segments.file.leadEnded(at: outcome.position)
        if case .failure(let error) = outcome.result, error != .partDone {
            note(error, job, segments)
        }
        goOn(job, segments, on: host)
    }

    // MARK: Parts

    /// Opens connections until there are as many as wanted.
    func fill(
        _ job: RunningJob, _ segments: SegmentedJob, upTo wanted: Int, on host: isolated some SegmentHost
    ) {
        // All parts are claimed before the first request, because a claim that shrinks after its request is fetched
        // twice.
        var claims: [(number: Int, source: Int)] = []
        while segments.count + claims.count < max(1, wanted), job.stop == nil {
            let now = MonotonicTime.now
            let isLast = segments.count + claims.count == 0
            guard let map = segments.file.map,
                let source = segments.sources.next(now: now.inSeconds, isLast: isLast)
            else { break }
            guard
                let number = segments.file.claimNext(
                    rate: segments.sources[source].rate, rates: segments.rates(map, now: now),
                    way: segments.way)
            else {
                stopSlowest(job, segments, map, faster: source, now)
                break
            }
            segments.sources.opened(source)
            claims.append((number, source))
        }
        guard let map = segments.file.map else { return }
        for (number, source) in claims {
            guard let claim = map.claims[number] else { continue }
            do throws(TransferError) {
                try open(job, segments, number, claim.start..<claim.end, source, on: host)
            } catch {
                segments.file.release(number)
                segments.sources.closed(source, bytes: 0, seconds: 0, fault: nil, now: 0)
                segments.sources.drop(source, error.message)
                job.sources.dropped(segments.sources[source].url, JobSource.Fault(error))
                segments.fault = error
            }
        }
    }

    private func open(
        _ job: RunningJob, _ segments: SegmentedJob, _ number: Int, _ range: Range<Int64>, _ source: Int,
        on host: isolated some SegmentHost
    ) throws(TransferError) {
        let url = segments.sources[source].url
        let part = job.part(range, of: url, segments.sources[source].validator, total: job.meter.total)
        let request = try host.partRequest(job, url: url, part)
        let id = job.candidate.id
        let origin = segments.origins[source]
        let now = MonotonicTime.now
        let meter = ExchangeMeter(path: segments.path)
        let handle = engine.start(request, meter: meter, limiters: segments.file.limiters) { [file = segments.file] in
            SegmentSink(file, claim: number, start: range.lowerBound)
        } events: { [host] event in
            guard case .ended(let outcome) = event else { return }
            host.loop.execute {
                host.onLoop { host in
                    if let refusal = outcome.refusal { host.connectionFailed(to: origin, refusal, since: now) }
                    host.connectionClosed(to: origin)
                    host.segmented.ended(id, number, outcome, on: host)
                    host.pump()
                }
            }
        }
        host.connectionOpened(to: origin)
        job.sources.opened(url, now: now.inSeconds)
        segments.connections[number] = SegmentedJob.Connection(
            handle: handle, meter: meter, source: source, start: range.lowerBound, since: now, lastMoved: now,
            position: range.lowerBound)
    }

    // MARK: Ends

    private func ended(_ id: Int64, _ number: Int, _ outcome: ExchangeOutcome, on host: isolated some SegmentHost) {
        guard let job = host.underWay(id), let segments = job.segments,
            let connection = segments.connections.removeValue(forKey: number)
        else { return }
        let now = MonotonicTime.now
        segments.received += outcome.received
        if outcome.metrics.firstByte > 0 { segments.way.start = outcome.metrics.firstByte }
        host.measure(firstByteOf: outcome)
        if connection.source > 0, outcome.position > connection.start {
            segments.shares[connection.source, default: ByteRanges()].insert(connection.start..<outcome.position)
        }
        let isDone = segments.file.release(number, toLead: outcome.received < SegmentSources.fruitful)
        var fault: TransferError?
        if !isDone, case .failure(let error) = outcome.result, error != .partDone { fault = error }
        if outcome.received > 0, let start = outcome.start {
            segments.sources.answered(connection.source, Validator(start.head))
        }
        segments.sources.closed(
            connection.source, bytes: outcome.received, seconds: (now - connection.since).inSeconds,
            fault: job.stop == nil ? fault?.message : nil, now: now.inSeconds)
        if connection.source > 0, let pause = fault?.retryAfter {
            segments.sources.pause(connection.source, until: (now + pause).inSeconds)
        }
        noteEnd(job, segments, connection, outcome, fault, now, on: host)
        if var fault {
            // Only the exchange that begins with the job's own request decides whether a refusal is final.
            if fault.status != nil { (fault.isTransient, fault.cause) = (true, nil) }
            // A source that has never sent bytes says nothing about the others.
            let isStrange = connection.source > 0 && segments.sources[connection.source].rate == nil
            note(fault, isStrange: isStrange, job, segments, status: outcome.head?.status)
        }
        goOn(job, segments, on: host)
    }

    /// Notes what a failure says about the number of connections.
    private func note(
        _ error: TransferError, isStrange: Bool = false, _ job: RunningJob, _ segments: SegmentedJob,
        status: Int? = nil
    ) {
        segments.fault = error
        guard job.stop == nil, !isStrange else { return }
        let now = MonotonicTime.now.inSeconds
        if let status = error.status ?? status, status >= 400 {
            if status == 429 || status == 503 {
                segments.growth.refused(
                    now: now, connections: segments.count, working: segments.workingCount,
                    retryAfter: error.retryAfter.map { $0.inSeconds })
            }
        } else if error.code != .badResponse, error.code != .networkChanged {
            segments.growth.lost(now: now, connections: segments.count)
        }
    }

    /// Continues with the next part after an exchange, or ends the download.
    private func goOn(_ job: RunningJob, _ segments: SegmentedJob, on host: isolated some SegmentHost) {
        let isComplete = segments.file.map?.isComplete ?? true
        if !isComplete, job.stop == nil {
            let spare = host.spareConnections(to: job.candidate.lane.origin)
            // The place of the connection that has just ended may belong to another job by now.
            let most = spare < 0 ? max(1, segments.count + spare) : segments.count + max(1, spare)
            fill(job, segments, upTo: min(segments.growth.wanted, most), on: host)
        }
        if isComplete {
            // No bytes are left for connections whose parts others took over.
            for (number, connection) in segments.connections where !connection.isStopped {
                segments.connections[number]?.isStopped = true
                connection.handle.cancel(.partDone)
            }
        }
        guard segments.count == 0, let lead = segments.lead else { return }
        if let count = segments.growth.found { found.note(count, at: job.candidate.lane.origin, now: .now) }
        (job.segments, job.file) = (nil, nil)
        let position = segments.file.map?.receivedCount ?? lead.position
        let received = segments.received + lead.received
        if segments.received == 0, case .success = lead.result, lead.position == job.meter.total {
            return host.exchangeEnded(job, lead)
        }
        guard isComplete, let head = lead.start?.head else {
            let fault =
                segments.fault ?? TransferError(.connectionLost, "the file's parts broke off", isTransient: true)
            return host.exchangeEnded(
                job,
                lead.joined(
                    .failure(fault), position: position, received: received, resumeData: segments.file.record()))
        }
        if case .download(var ready) = job.ready {
            ready.mix = segments.mix(position)
            ready.ahead = segments.file.ahead
            ready.seams = segments.file.seams
            job.ready = .download(ready)
        }
        host.exchangeEnded(
            job, lead.joined(.success(head), position: position, received: received, resumeData: nil))
    }
}

extension ExchangeOutcome {
    /// The sign in the end of a part that the origin refuses more connections.
    fileprivate var refusal: ConcurrencyBackoff.Refusal? {
        guard case .failure(let error) = result, error != .partDone else { return nil }
        return ConcurrencyBackoff.Refusal(error, status: head?.status, hadBegun: received > 0)
    }
}
