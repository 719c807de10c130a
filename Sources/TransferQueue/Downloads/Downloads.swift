import CTransferLinux
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

/// The part of the runner that the ends of downloads need.
protocol DownloadHost: PartHost {
    var downloads: Downloads { get }
    var batches: RunningBatches { get }
    /// Whether other processes work on the same batches.
    var sharesBatches: Bool { get }
    func underWay(_ id: Int64) -> RunningJob?
    func originAnswered(_ job: RunningJob)
    /// Notes that the job's origin was sent no request.
    func originAbandoned(_ job: RunningJob)
    /// Frees the job's slot, because the next job need not wait for this one's work on the disk.
    func freeSlot(_ job: RunningJob)
    func refusedElsewhere(_ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome) -> TransferError
    /// Returns whether the file is longer than it ever was.
    func cameFurther(_ job: RunningJob, from start: Int64, to position: Int64) -> Bool
    /// Notes an observation of an attempt that is not stored.
    func noteTrace(_ job: RunningJob, _ news: AttemptHistory.News)
    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, left: PartialFileOutcome, progressed: Bool)
    func leave(_ job: RunningJob, _ outcome: JobOutcome)
    /// Searches for the source of wrong bytes in a mixed file with only one digest of the whole.
    func findWrong(
        _ job: RunningJob, _ item: DownloadCompletion.Item, _ ready: ReadyDownload, _ mix: MixedFile,
        _ error: TransferError)
}

/// The downloads after their exchange. Complete ones are made durable together; for others, the partial file is
/// recorded.
final class Downloads {
    let engine: any ExchangePerformer
    private let builder: RequestBuilder
    let census: FolderCache
    private var finishing = Finishing()
    /// Records of partial files that their file systems cannot store.
    private var parts = PartRecords()
    /// Complete downloads of several sources, until they are saved.
    private var mixed: [Int64: DownloadCompletion.Item] = [:]

    private static let markedSize: Int64 = 256 << 10

    init(engine: any ExchangePerformer, builder: RequestBuilder, census: FolderCache) {
        self.engine = engine
        self.builder = builder
        self.census = census
    }

    /// The number of complete downloads that are not durable yet; each holds a descriptor.
    var unsaved: Int { finishing.count }
    /// Whether workers are saving downloads.
    var areBeingSaved: Bool { finishing.underWay > 0 }

    // MARK: Whole downloads

    func succeeded(
        _ job: RunningJob, _ ready: ReadyDownload, _ head: ResponseHead, _ outcome: ExchangeOutcome,
        on host: isolated some DownloadHost
    ) {
        guard case .download(let download) = job.record.spec.work else { return }
        Failpoint.reached(.downloadComplete)
        host.originAnswered(job)
        host.freeSlot(job)
        job.phase = .saving
        let reported = ServerDigest(head, outcome)
        job.result = TransferResult(
            status: head.status, finalURL: Redaction.url(outcome.finalURL), transferred: outcome.received,
            validator: Validator(head)?.description, response: nil,
            mediaType: head.mediaType, proofs: [JobProof](download, reported, outcome),
            contentCoding: job.record.spec.isCompressed ? head.contentCoding : nil,
            unproven: download.isProvenByDigests ? nil : ready.earlier(for: outcome)?.adopted?.count,
            isLengthUnproven: outcome.isLengthUnproven && reported == nil)
        let item =
            DownloadCompletion.Item(
                id: job.candidate.id, batch: job.record.batch, part: ready.part,
                path: ready.target.file(url: job.url, disposition: head.value("Content-Disposition")),
                replacement: ready.replacement, picksFreeName: download.ifExists == .rename,
                // A 304 or 206 answer need not repeat the field.
                modified: download.remoteTime
                    ? (head.singleValue("Last-Modified") ?? ready.earlier(for: outcome)?.validator?.lastModified)
                        .flatMap { HTTPDate.parse($0) } : nil,
                expected: download.checksum, pieces: download.pieces, length: outcome.position,
                size: download.size, reported: reported,
                computed: outcome.digest,
                isLarge: outcome.position > 1 << 20,
                adopted: ready.earlier(for: outcome)?.adopted?.path,
                mark: isMarked(job, outcome.position, host.batches) ? .mark(job, ready, head, outcome) : nil,
                isMixed: ready.mix != nil, ahead: ready.ahead, own: job.record.facts, seams: ready.seams,
                recorded: RecordedBytes(job.record), owners: job.record.partOwners, taken: job.takenName)
        if ready.mix != nil, download.pieces == nil { mixed[item.id] = item }
        finishing.add(item)
    }

    /// Returns whether the finished file gets a note of its origin. Large files do, so that no second transfer follows
    /// if the process dies before recording them. (A record written along the way is not reliable, since it is dropped
    /// once the file is whole.)
    private func isMarked(_ job: RunningJob, _ size: Int64, _ batches: RunningBatches) -> Bool {
        size >= Self.markedSize || batches[job.record.batch]?.marksFiles == true
    }

    /// Completes a partial file that the digest proves to be whole, without any request.
    func completed(
        _ job: RunningJob, _ ready: ReadyDownload, _ digest: Checksum, on host: isolated some DownloadHost
    ) {
        guard case .download(let download) = job.record.spec.work, let resume = ready.resume else { return }
        host.originAbandoned(job)
        host.freeSlot(job)
        job.phase = .saving
        job.result = TransferResult(
            status: 0, finalURL: ready.earlier?.place?.url ?? Redaction.url(job.url), transferred: 0,
            validator: resume.validator?.description, response: nil, proofs: [.checksum])
        let modified = resume.validator?.lastModified.flatMap { HTTPDate.parse($0) }
        finishing.add(
            DownloadCompletion.Item(
                id: job.candidate.id, batch: job.record.batch, part: ready.part,
                path: ready.target.file(url: job.url, disposition: nil),
                replacement: ready.replacement, picksFreeName: download.ifExists == .rename,
                modified: download.remoteTime ? modified : nil, expected: download.checksum, pieces: download.pieces,
                length: resume.offset, size: download.size, computed: digest,
                isLarge: resume.offset > 1 << 20, adopted: ready.earlier?.adopted?.path,
                mark: isMarked(job, resume.offset, host.batches) ? ready.earlier : nil,
                own: job.record.facts, recorded: RecordedBytes(job.record), owners: job.record.partOwners))
    }

    /// Saves a group of downloads when it is large, or when it has waited long enough for more.
    ///
    /// - Parameter isLast: Whether no more downloads will join the group.
    func scheduleSave(isLast: Bool, on host: isolated some DownloadHost) {
        guard !finishing.isEmpty else { return }
        let timer = host.timer(.save)
        if finishing.isFull || isLast {
            timer.cancel()
            return saveGroup(on: host)
        }
        if !timer.isScheduled { timer.schedule(at: .now + .milliseconds(100)) }
    }

    /// Passes complete downloads to a worker, to be saved together.
    func saveGroup(on host: isolated some DownloadHost) {
        for group in finishing.take() {
            if let unknown = unknown(in: group, on: host) {
                revoke(unknown, then: group, on: host)
            } else {
                save(group, on: host)
            }
        }
    }

    func didSave(_ answers: [DownloadCompletion.Answer], on host: isolated some DownloadHost) {
        finishing.saved(answers.count)
        for answer in answers {
            let mixed = mixed.removeValue(forKey: answer.id)
            guard let job = host.underWay(answer.id) else { continue }
            switch answer.result {
            case .success(let saved):
                let batch = host.batches[job.record.batch]?.name
                var receipt = job.receipt(in: batch, path: saved.path, bytes: saved.facts.size, digest: saved.digest)
                receipt.sums = saved.sums
                host.leave(job, .done(receipt, saved.facts))
            case .failure(let error): saveFailed(job, mixed, error, on: host)
            }
        }
        host.pump()
    }

    /// Handles a failure to save.
    ///
    /// - Parameter mixed: The item of a file from several sources with only one digest of the whole, the first time.
    private func saveFailed(
        _ job: RunningJob, _ mixed: DownloadCompletion.Item?, _ error: TransferError,
        on host: isolated some DownloadHost
    ) {
        if error.code == .checksumMismatch, case .download(let ready) = job.ready, let mix = ready.mix {
            if let mixed { return host.findWrong(job, mixed, ready, mix, error) }
            return fetchAgain(job, ready, mix, error, on: host)
        }
        // A file that cannot get its name cannot get it later either. A changed job downloads it anew.
        var left = PartialFileOutcome.untouched
        if case .download(let ready) = job.ready, error.code == .fileExists {
            ready.part.remove()
            left = .nothing
        }
        if case .download(let ready) = job.ready, error.code == .checksumMismatch, ready.earlier?.adopted != nil {
            host.noteTrace(job, .adoptedWrongly)
        }
        var error = error
        if error.code == .wrongPart {
            host.noteTrace(job, .dividedWrongly)
            left = .nothing
        }
        // The server may have combined bytes of two attempts wrongly, or the disk may have lost earlier ones: one more
        // attempt begins from the start.
        if case .download(let ready) = job.ready, error.code == .checksumMismatch {
            error.isTransient = error.isTransient || (job.start?.continued ?? ready.resume?.offset ?? 0) > 0
            left = .nothing
        }
        host.failed(job, error, bodyLeft: false, left: left, progressed: false)
    }

    /// Saves a file whose wrong bytes have been replaced.
    func saveAgain(_ item: DownloadCompletion.Item, on host: isolated some DownloadHost) {
        finishing.add(item)
        host.pump()
    }

    /// Fetches the suspicious bytes of a wrong file from another source, and keeps the rest.
    func fetchAgain(
        _ job: RunningJob, _ ready: ReadyDownload, _ mix: MixedFile, _ error: TransferError,
        on host: isolated some DownloadHost
    ) {
        guard case .download(let download) = job.record.spec.work else { return }
        host.noteTrace(job, .mixedWrongly)
        let id = job.candidate.id
        let start = job.start
        engine.workers.execute { [host] in
            let again = RefetchPlan(ready, download, mix, start)
            again?.record(in: ready.part)
            ready.part.unlock()
            host.loop.execute {
                host.onLoop { host in
                    guard let job = host.underWay(id) else { return }
                    guard let again else {
                        ready.part.remove()
                        return host.failed(job, error, bodyLeft: false, left: .nothing, progressed: false)
                    }
                    guard job.stop == nil else {
                        return host.failed(
                            job, error, bodyLeft: false, left: .record(again.resume), progressed: false)
                    }
                    for url in again.blamed {
                        job.sources.dropped(url, JobSource.Fault(.wrongBytes, "\(error.message): it has other bytes"))
                    }
                    host.tellSources(of: job)
                    var error = error
                    error.message = again.reason(error)
                    job.record.resume = again.resume
                    job.record.mirror = again.mirror
                    host.leave(job, .retry(job.record, after: .zero, because: error, resume: again.resume))
                    host.pump()
                }
            }
        }
    }

    // MARK: Broken-off downloads

    func failed(
        _ job: RunningJob, _ ready: ReadyDownload, _ error: TransferError, _ outcome: ExchangeOutcome,
        on host: isolated some DownloadHost
    ) {
        // A 304 counts only if it comes from the resource that gave the file.
        if error.status == 304, let version = ready.held,
            version.isOf(outcome.finalURL, own: job.object?.url ?? job.url)
        {
            return notModified(job, ready, version, on: host)
        }
        let id = job.candidate.id
        let (refused, isElsewhere) = objectRefused(job, error, outcome)
        let error = host.refusedElsewhere(job, refused, outcome)
        let isRefuted = ready.earlier?.adopted != nil && outcome.refutesAdopted
        if isRefuted { host.noteTrace(job, outcome.head?.status == 416 ? .adoptedLonger : .adoptedWrongly) }
        let left = isRefuted ? PartialFileOutcome.nothing : PartialFileOutcome(of: outcome, ready)
        let progressed =
            outcome.resumeData != nil
            && host.cameFurther(job, from: ready.resume?.offset ?? 0, to: outcome.position)
        if outcome.resumeData != nil, let start = outcome.start {
            host.noteTrace(job, .answered(url: start.url))
        } else if ready.resume?.placeURL != nil || ready.resume?.isPart == true, outcome.head != nil {
            host.noteTrace(job, .refused)
        }
        job.phase = .saving
        engine.workers.execute { [host] in
            let left = left.secured(ready.part)
            switch left {
            case .record(let resume):
                // The attribute holds all of a few ranges, so no separate map is needed.
                if ready.part.record(resume), resume.written.ranges.count < 24 { ready.part.removeMap() }
                Failpoint.reached(.brokenOffRecorded)
            case .untouched: break
            case .nothing: ready.part.remove()
            }
            // The unlocking precedes the next attempt, which opens the file anew.
            ready.part.unlock()
            host.loop.execute {
                host.onLoop { host in
                    guard let job = host.underWay(id) else { return }
                    if isElsewhere, job.stop == nil {
                        // An answer that names the bucket's region counts as no attempt, like a redirect.
                        host.originAnswered(job)
                        host.leave(
                            job, .retry(job.record, after: .zero, because: error, resume: job.record.resume))
                    } else {
                        host.failed(job, error, bodyLeft: outcome.bodyLeft, left: left, progressed: progressed)
                    }
                    host.pump()
                }
            }
        }
    }

    /// Interprets an object server's refusal.
    ///
    /// - Returns: The error in the server's words, and whether the object is requested again in the region that the
    ///   server named.
    private func objectRefused(
        _ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome
    ) -> (error: TransferError, isElsewhere: Bool) {
        guard let object = job.object, let head = outcome.head,
            error.status == head.status || (300..<400).contains(head.status)
        else {
            return (error, false)
        }
        let now = WallClock.seconds
        let other = object.otherRegion(head, body: outcome.answer)
        let isElsewhere = other.map { builder.regions.learn($0, by: object) } ?? false
        return (object.refusal(head, body: outcome.answer, signedBy: job.accessKey, now: now), isElsewhere)
    }

    // MARK: Files that stay as they are

    /// Handles the server's statement that the file is the newest version.
    private func notModified(
        _ job: RunningJob, _ ready: ReadyDownload, _ version: HeldVersion, on host: isolated some DownloadHost
    ) {
        host.originAnswered(job)
        if ready.part.initialSize == 0 { ready.part.remove() }
        // The answer is valid only for the file that the server was asked about. FUSE file systems report another time
        // of the last change of anything (`st_ctim`) a second after a rename.
        guard case .only(let path, let judged) = ready.replacement,
            case .file(let facts)? = try? DestinationName.look(path), facts.isSameVersion(as: judged)
        else {
            let path = ready.target.file(url: job.url, disposition: nil)
            let error = TransferError(
                .fileMissing, "\(path) vanished or changed while its server was asked about it", isTransient: true)
            return host.failed(job, error, bodyLeft: false, left: .untouched, progressed: false)
        }
        let digest = facts.isSameVersion(as: job.record.facts) ? job.record.digest : nil
        keep(job, path: path, facts: facts, digest: digest, confirmed: version, on: host)
    }

    /// Ends a job whose file is there and complete, without a transfer.
    ///
    /// - Parameter confirmed: The version that its server confirmed just now.
    func keep(
        _ job: RunningJob, path: String, facts: FileStamp, digest: Checksum?, confirmed: HeldVersion? = nil,
        on host: isolated some DownloadHost
    ) {
        let batch = host.batches[job.record.batch]?.name
        var receipt = job.receipt(in: batch, path: path, bytes: facts.size, digest: digest)
        receipt.validator = confirmed?.validator.description ?? receipt.validator ?? job.record.validator
        receipt.finalURL = (confirmed?.place ?? job.record.place)?.url ?? receipt.finalURL
        receipt.attempts = job.record.attempts
        receipt.isConfirmed = confirmed != nil
        host.leave(job, .kept(receipt, facts))
    }

    /// Ends a job whose destination has a file of unknown content. Without recorded facts, it is never taken for this
    /// job's own.
    func leaveFile(_ job: RunningJob, path: String, facts: FileStamp, on host: isolated some DownloadHost) {
        let batch = host.batches[job.record.batch]?.name
        var receipt = job.receipt(in: batch, path: path, bytes: facts.size, digest: nil)
        receipt.attempts = job.record.attempts
        host.leave(job, .kept(receipt, nil))
    }

    // MARK: Records of partial files

    /// Takes a record of the partial file that a job writes to.
    func keep(
        _ record: ResumeData, of id: Int64, in part: PartFile, _ kept: @escaping @Sendable () -> Void,
        on host: isolated some DownloadHost
    ) {
        // The record is outdated if a later attempt has opened the file anew.
        guard let job = host.underWay(id), case .download(let ready) = job.ready, ready.part === part else { return }
        job.record.resume = record
        parts.add(record, of: id, kept)
        host.pump()
    }

    /// Drops the record of a job that has ended, because its end records the remaining bytes.
    func dropRecord(of id: Int64) { parts.drop(id) }

    func flushRecords(on host: isolated some DownloadHost) {
        guard let group = parts.take() else { return }
        host.withStore {
            try $0.note(group.records.map { .part($0.value, of: $0.key) })
        } then: { host, _ in
            host.downloads.parts.written()
            for (id, waiting) in group.waiting {
                for kept in waiting { kept() }
                if case .transferring(let handle)? = host.underWay(id)?.phase { handle.proceed() }
            }
        }
    }
}
