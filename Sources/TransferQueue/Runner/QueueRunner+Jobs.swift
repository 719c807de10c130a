import CTransferLinux
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore
import TransferUpload

// The entry of a job into the run: it is claimed, gets a slot, is prepared, and is passed to the engine.
extension QueueRunner {
    // MARK: Claims

    /// The most lanes whose jobs are claimed in one transaction, each with one page at most.
    private static let claimsAtOnce = 64

    func claim(_ wants: [LaneWant]) {
        let (known, accept) = (running.secrets, tools.accept)
        for page in wants.pages(of: Self.claimsAtOnce) {
            withStore { store in
                try store.claim(page, secrets: known).map { $0.judged(by: accept) }
            } then: { runner, results in
                for (want, result) in zip(page, results) { runner.didClaim(result, asked: want.limit) }
            }
        }
    }

    /// Notes that jobs are ready, again or for the first time.
    ///
    /// - Parameter overtakes: Whether some of them may precede jobs that have been claimed.
    func becameReady(_ lane: Lane, _ count: Int, overtakes: Bool = false) {
        guard batches.isInRun(lane.batch) else { return }
        // The network is reviewed with the rules of all present jobs, and waits are reported.
        let isNews =
            (!lane.network.isEmpty || following.holdsJobs)
            && !admission.scheduler.batches(under: lane.network).contains(lane.batch)
        admission.scheduler.backlogGrew(lane, by: count, overtakes: overtakes)
        if isNews { following.review(on: self) }
    }

    func didClaim(_ result: ClaimedJobs, asked: Int) {
        for end in result.failures { recording.add(end) }
        for step in result.leftToWatchers { recording.add(step) }
        let reach = OriginReach(origin: result.lane.origin)
        let candidates = result.jobs.map { job in
            var record = job.record
            // A damaged database has lost its records. An existing file may be the job's own work, and servers are
            // asked about uploads.
            if store.notice != nil { record.wasInterrupted = true }
            admission.add(record)
            return Scheduler.Candidate(
                id: job.record.id, lane: result.lane, priority: job.record.spec.priority, rank: job.rank,
                patience: RetryHorizon(job.record.spec.settings.retry.rule),
                isEndless: folders[result.lane.batch] != nil,
                reach: builder.reach(job.record.spec, origin: result.lane.origin, straight: reach),
                probesAuthentication: builder.mayBeChallenged(job.record.spec, result.lane.origin),
                isCopy: job.record.spec.copySource != nil)
        }
        admission.scheduler.claimed(result.lane, candidates, asked: asked)
        // One refresh covers all lanes, because their other claims were issued before it counts.
        if result.isNews, batches[result.lane.batch]?.isAsStaged == true {
            batches.refresh(result.lane.batch, on: self)
        }
        // The hosts that these jobs contact first are known only now.
        if admission.scheduler.network.held.contains(result.lane.network) { following.reviewSoon(on: self) }
        commands.holdBack(on: self)
    }

    func wake() {
        wake(admission.wake(now: .now))
        pump()
    }

    func wake(_ jobs: [Int64]) {
        guard !jobs.isEmpty else { return }
        withStore {
            try $0.wake(jobs)
        } then: { runner, lanes in
            for (lane, count) in lanes { runner.becameReady(lane, count) }
        }
    }

    // MARK: Preparation

    /// Prepares a job that has a slot on a worker.
    func begin(_ candidate: Scheduler.Candidate) {
        Failpoint.reached(.jobClaimed)
        guard let record = admission.take(candidate.id), let batch = batches[candidate.lane.batch] else {
            return admission.scheduler.ended(candidate)
        }
        let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
        running[candidate.id] = RunningJob(
            candidate: candidate, record: record, started: .now, url: url,
            sources: running.traces.sources(of: candidate.id))
        switch record.spec.work {
        case .download(let download):
            preparing.add(
                DownloadPreparation(
                    record: record, download: batch.isStrict ? download.strictly : download, directory: batch.directory,
                    url: url,
                    answeredURL: running.traces.answeredURL(of: candidate.id),
                    asksPlace: running.traces.asksPlace(candidate.id),
                    mayAdopt: running.traces.mayAdopt(candidate.id),
                    hasLonger: running.traces.adoptedLonger(candidate.id)))
        case .upload(let upload) where upload.from != nil:
            // A copy has no local file to prepare. The call is deferred, because this runs within the pump.
            loop.execute {
                self.onLoop { runner in
                    guard let job = runner.running[candidate.id] else { return }
                    runner.transferMarked(candidate.id, job)
                    runner.pump()
                }
            }
        case .upload(let upload): preparing.add(record, upload, batch.directory)
        }
    }

    func didPrepare(_ job: RunningJob, _ result: DownloadPreparation.Result) {
        if let stop = job.stop { return leave(job, for: stop) }
        switch result {
        case .kept(let path, let facts, let digest):
            downloads.keep(job, path: path, facts: facts, digest: digest, on: self)
        case .left(let path, let facts): downloads.leaveFile(job, path: path, facts: facts, on: self)
        case .failed(let error): failed(job, error, bodyLeft: false)
        case .complete(let ready, let digest):
            job.ready = .download(ready)
            downloads.completed(job, ready, digest, on: self)
        case .ready(let ready):
            job.ready = .download(ready)
            Failpoint.reached(.downloadPrepared)
            segmented.prepare(job, ready, recorder(job, ready), limiters(of: job), on: self)
        }
    }

    func didOpen(_ job: RunningJob, _ result: Result<OpenedSource, TransferError>) {
        guard case .preparing = job.phase, job.ready == nil else { return }
        let id = job.candidate.id
        if let stop = job.stop { return leave(job, for: stop) }
        switch result {
        case .failure(let error) where error.code == .superseded || isElsewhere(job):
            leave(job, .replaced(isChanged: error.errno == nil))
        case .failure(let error): failed(job, error, bodyLeft: false)
        case .success(let source):
            if let version = job.record.watched, source.digest == nil,
                folders[job.record.batch]?.plan.needsDigest == true
            {
                // The file was unreadable when its digest was due, and is readable now: it is queued again.
                if folders.mayQueueAnew(UnreadVersion(job.record, version)) {
                    return leave(job, .replaced(isChanged: true))
                }
                let path = source.file.path
                return failed(
                    job,
                    TransferError(.fileAccess, "\(path) cannot be read: its digest is not known", isTransient: true),
                    bodyLeft: false)
            }
            job.ready = .upload(source.file)
            job.sending.digest = source.digest
            job.sending.isProven = source.isProven
            Failpoint.reached(.uploadOpened)
            if !sources.fingerprintFirst(id, job, source.file, on: self) { transferMarked(id, job) }
        }
    }

    /// Records, before the first byte leaves, that a body must not be sent twice or that only this version may follow.
    /// After a crash this could not be known otherwise.
    func transferMarked(_ id: Int64, _ job: RunningJob) {
        let file: SourceFile? = if case .upload(let file) = job.ready { file } else { nil }
        let known = job.record.upload
        // A server that has begun an upload of this file is asked instead.
        let isKnown =
            known.map { known in
                known.knowsTheWay
                    && file.map {
                        known.likeness(to: $0, isVerified: job.isVerified, mustNotRepeat: true) != .other
                    } ?? (job.record.spec.copySource != nil)
            } ?? false
        let isUnrepeatable = job.record.spec.mustNotRepeat && !isKnown
        let version = file.flatMap { file in
            job.record.keepsVersion && known == nil ? UploadRecord(file, state: nil, confirmed: 0) : nil
        }
        if version != nil {
            job.record.upload = version
            job.sending.hasMarkedVersion = true
        }
        guard isUnrepeatable || version != nil else { return transfer(id) }
        withStore {
            try $0.note([.sending(id, isUnrepeatable: isUnrepeatable, version: version)])
        } then: { runner, _ in
            Failpoint.reached(.sendingMarked)
            runner.transfer(id)
        }
    }

    func transfer(_ id: Int64) {
        guard let job = running[id] else { return }
        if let stop = job.stop { return leave(job, for: stop) }
        if credentials.ask(for: job, on: self) || ask(tools.leases, for: job, builder(of: job).secrets) { return }
        guard let way = following.way(for: job, on: self) else { return following.wait(job, nil, on: self) }
        if job.record.spec.copySource != nil { return copies.begin(job, over: way, on: self) }
        guard let ready = job.ready else { return }
        do throws(TransferError) {
            if case .upload(let file) = ready, try dialogues.begin(job, file, over: way, on: self) {
                return announceStart(job)
            }
            var request = try request(job, ready)
            if let way { request.settings.link = way }
            let makeSink = sinkMaker(job, ready)
            let limiters = job.file?.limiters ?? limiters(of: job)
            let handle = engine.start(
                request, meter: job.meter, limiters: limiters, makeSink: makeSink
            ) { [loop] event in
                // A small answer is over before its beginning could be observed, and its end contains the beginning.
                if case .responded(let start) = event, let total = start.total, total < 256 << 10 { return }
                loop.execute { self.onLoop { $0.received(event, of: id) } }
            }
            job.phase = .transferring(handle)
            if job.record.hasFurtherMirrors { segmented.schedule(on: self) }
            announceStart(job)
            sourceAsked(job)
        } catch {
            failed(job, error, bodyLeft: false)
        }
    }

    func announceStart(_ job: RunningJob) {
        var (offset, adopted): (Int64, AdoptedBytes?) = (0, nil)
        switch job.ready {
        case .download(let download):
            offset = download.resume?.offset ?? 0
            // Later attempts have more bytes than the adopted ones.
            adopted = download.earlier?.adopted.flatMap { $0.count == offset ? $0 : nil }
        case .upload, .copy: offset = job.record.upload?.confirmed ?? 0
        case nil: break
        }
        job.pace.furthest = offset
        var start = JobStart(
            isUpload: job.record.spec.isUpload,
            url: Redaction.url(job.record.spec.copySource?.download.urls.first ?? job.url), offset: offset,
            attempt: job.record.attempts + 1, adopted: adopted)
        start.isInsecure = job.record.spec.settings.tls.insecure
        emit(job.record.batch, .started(job: job.record.identity, start))
    }

    /// Returns the builder of a job's requests, with the attempt's cookies and the values from the program's closures.
    func builder(of job: RunningJob) -> RequestBuilder {
        var builder = builder
        builder.cookies = job.cookies
        if let credentials = job.credentials { builder.secrets = builder.secrets.with(credentials) }
        return builder
    }

    /// Returns the host and port of the URL that a job is tried with.
    func host(of job: RunningJob) -> String? {
        job.record.spec.settings.origin(of: job.url, builder(of: job).secrets)?.hostAndPort
    }

    private func request(_ job: RunningJob, _ ready: ReadyTransfer) throws(TransferError) -> ExchangeRequest {
        let builder = builder(of: job)
        switch (job.record.spec.work, ready) {
        case (.download(let download), .download(let ready)):
            job.object = try builder.object(job.record.spec, url: job.url)
            let isStrict = batches[job.record.batch]?.isStrict == true
            let request = try builder.download(
                job.record.spec, isStrict ? download.strictly : download, url: job.url, object: job.object, ready: ready
            )
            if job.object != nil { job.accessKey = SignatureVersion4.accessKey(in: request.headers) }
            return request
        case (.upload(let upload), .upload(let file)):
            return try builder.upload(job.record.spec, upload, file: file)
        default: throw TransferError(.internalFault, "a job was prepared for another direction")
        }
    }

    private func sinkMaker(_ job: RunningJob, _ ready: ReadyTransfer) -> @Sendable () -> any BodySink {
        switch ready {
        case .upload, .copy: return { AnswerSink(limit: 64 << 10) }
        case .download(let download):
            let algorithm = job.record.spec.checksum?.algorithm
            let (url, segments) = (Redaction.url(job.url), job.file)
            let recorder = segments?.recorder ?? recorder(job, download)
            return { [workers = engine.workers] in
                FileSink(
                    download.part, offset: download.resume?.offset ?? 0, url: url, algorithm: algorithm,
                    workers: workers, state: FileSinkState(synced: download.synced), earlier: download.earlier,
                    recorder: recorder, algorithmOfAnswer: { ReprDigest.ofFile($0)?.digest.algorithm },
                    segments: segments)
            }
        }
    }

    /// Returns a function that stores the records of a partial file whose file system cannot.
    private func recorder(_ job: RunningJob, _ download: ReadyDownload) -> ResumeRecorder {
        let id = job.candidate.id
        return { [loop] record, kept in
            loop.execute { self.onLoop { $0.downloads.keep(record, of: id, in: download.part, kept, on: $0) } }
        }
    }

    /// Returns the rate limits of a job, including its own.
    func limiters(of job: RunningJob) -> [RateLimiter] { state.rates.limiters(of: job.url) + job.pace.limiters }

    private func received(_ event: ExchangeEvent, of id: Int64) {
        guard let job = running[id] else { return }
        let (batch, name) = (job.record.batch, job.record.identity)
        switch event {
        case .restarted(let reason):
            job.pace.furthest = 0
            emit(batch, .restarted(job: name, reason: reason))
        case .responded(let start):
            job.start = start
            segmented.responded(job, start, on: self)
        case .netrcUsed(let use): emit(batch, .authorized(job: name, use))
        case .congestionRefused(let use): emit(batch, .congestion(job: name, use))
        case .interim, .redirected, .challenged: break
        case .ended(let outcome): leadEnded(job, outcome)
        }
    }

    // MARK: Changed jobs

    /// Takes jobs back from any phase, and returns when that is recorded.
    func giveBack(_ jobs: Set<Int64>) async {
        // Jobs that were being claimed are known after this.
        await storeTurn()
        let open = jobs.filter { id in
            running[id] != nil || admission.claimed[id] != nil || recording.holds(id)
        }
        if !open.isEmpty {
            await withCheckedContinuation { waiter in
                recording.wait(for: open, waiter)
                takeBack(open)
                pump()
            }
        }
        // Jobs that were being recorded are recorded after this.
        await storeTurn()
    }

    /// Takes back the jobs that other processes are staging with changes.
    func releaseRevoked() {
        // Jobs that were being claimed are known by then.
        withStore {
            try $0.revoked()
        } then: { runner, jobs in
            guard !jobs.isEmpty else { return }
            runner.takeBack(jobs)
            runner.pump()
        }
    }

    /// The milliseconds for which a job that was taken back is not started, while it is changed. Without a change it
    /// then continues unchanged. Another process may need long to stage a large file.
    var changeTakes: Int64 { store.sharesBatches ? 60_000 : 5000 }

    /// Changes jobs that are under way, without interrupting them.
    ///
    /// - Returns: The jobs that could be changed.
    func amend(_ jobs: Set<Int64>, _ change: @Sendable (inout JobSpec) -> Void) -> Set<Int64> {
        jobs.filter { running[$0]?.amend(tools.accept, change) ?? false }
    }

    /// Takes back the claimed jobs of a batch that have not started, for a moment in which they may be changed.
    func giveBackUnstarted(of batch: String) async {
        await storeTurn()
        let jobs = admission.ids { batches[$0.batch]?.name == batch }
        guard !jobs.isEmpty else { return }
        await withCheckedContinuation { waiter in
            recording.wait(for: jobs, waiter)
            takeBack(.release(.waiting)) { jobs.contains($0.id) }
            pump()
        }
        await storeTurn()
    }

    private func takeBack(_ jobs: Set<Int64>) {
        for id in jobs {
            guard let job = running[id], job.stop == nil else { continue }
            emit(job.record.batch, .restarted(job: job.record.identity, reason: "it was changed in its job file"))
            interrupt(job, .release(.waiting))
        }
        takeBack(.release(.waiting)) { jobs.contains($0.id) }
        recording.changeSteps(where: { jobs.contains($0.id) && $0.state != .paused }) { step in
            step.state = .waiting
            step.due = MonotonicTime.now + .milliseconds(changeTakes)
        }
    }

    /// Takes back claimed jobs that have not started.
    func takeBack(_ stop: RunningJob.Stop, where isMeant: (JobRecord) -> Bool) {
        preparing.forgetAhead()
        let meant = admission.ids(where: isMeant)
        for candidate in admission.scheduler.remove(where: { meant.contains($0.id) }) {
            guard let record = admission.take(candidate.id) else { continue }
            let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
            leave(RunningJob(candidate: candidate, record: record, started: .now, url: url), for: stop)
        }
    }
}
