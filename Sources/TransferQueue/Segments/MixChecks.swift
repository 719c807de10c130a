import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

/// The part of the runner that the search for wrong bytes needs.
protocol MixHost: SegmentHost, DownloadHost {
    var mixChecks: MixChecks { get }
    func count(_ job: RunningJob, moved bytes: Int64)
    func limiters(of job: RunningJob) -> [RateLimiter]
}

/// The search in mixed files with a wrong digest. The bytes of each source are requested from another and compared as
/// they arrive (``MixComparison``), until the digest is right.
final class MixChecks {
    private final class Check {
        let item: DownloadCompletion.Item
        let ready: ReadyDownload
        let mix: MixedFile
        let error: TransferError
        var comparison: MixComparison
        var differences: [Comparison.Difference] = []

        init(_ item: DownloadCompletion.Item, _ ready: ReadyDownload, _ mix: MixedFile, _ error: TransferError) {
            self.item = item
            self.ready = ready
            self.mix = mix
            self.error = error
            comparison = MixComparison(mix)
        }
    }

    private let engine: any ExchangePerformer
    private var checks: [Int64: Check] = [:]

    init(engine: any ExchangePerformer) { self.engine = engine }

    func begin(
        _ job: RunningJob, _ item: DownloadCompletion.Item, _ ready: ReadyDownload, _ mix: MixedFile,
        _ error: TransferError, on host: isolated some MixHost
    ) {
        let check = Check(item, ready, mix, error)
        checks[job.candidate.id] = check
        var reported = error
        reported.message +=
            "; what each of \(CountText.words(mix.shares.count, "source")) brought is compared with what another has"
        host.emit(job.record.batch, .retrying(job: job.record.identity, delay: .zero, reported))
        perform(check.comparison.begin(), job, check, on: host)
    }

    private func perform(
        _ action: MixComparison.Action, _ job: RunningJob, _ check: Check, on host: isolated some MixHost
    ) {
        switch action {
        case .compare(let range, let source) where job.stop == nil:
            compare(range, source, job, check, on: host)
        case .judge(let numbers, _) where job.stop == nil: judge(numbers, job, check, on: host)
        case .undecided, .compare, .judge: giveUp(job, check, on: host)
        case .found(let suspect):
            checks[job.candidate.id] = nil
            job.sources.dropped(
                check.mix.shares[suspect].url,
                JobSource.Fault(.wrongBytes, "\(check.error.message): it has other bytes"))
            host.tellSources(of: job)
            host.downloads.saveAgain(check.item, on: host)
        }
    }

    private func giveUp(_ job: RunningJob, _ check: Check, on host: isolated some MixHost) {
        checks[job.candidate.id] = nil
        job.phase = .saving
        host.downloads.fetchAgain(job, check.ready, check.mix, check.error, on: host)
    }

    // MARK: Comparing

    private func compare(
        _ range: Range<Int64>, _ source: Int, _ job: RunningJob, _ check: Check, on host: isolated some MixHost
    ) {
        let share = check.mix.shares[source]
        let request: ExchangeRequest
        do throws(TransferError) {
            request = try host.partRequest(
                job, url: share.url, job.part(range, of: share.url, share.validator, total: check.mix.total))
        } catch {
            return giveUp(job, check, on: host)
        }
        let id = job.candidate.id
        let comparison = Comparison(at: range.lowerBound)
        let (url, origin) = (share.url, origin(of: share.url, job))
        job.sources.opened(url, now: MonotonicTime.now.inSeconds)
        let handle = engine.start(request, limiters: host.limiters(of: job)) { [part = check.ready.part] in
            ComparingSink(part, range, comparison)
        } events: { [host] event in
            guard case .ended(let outcome) = event else { return }
            host.loop.execute {
                host.onLoop { host in
                    if let origin { host.connectionClosed(to: origin) }
                    host.underWay(id)?.sources.closed(url, bytes: outcome.received, now: MonotonicTime.now.inSeconds)
                    host.mixChecks.ended(id, range, comparison, outcome, on: host)
                    host.pump()
                }
            }
        }
        if let origin { host.connectionOpened(to: origin) }
        job.phase = .comparing(handle)
    }

    private func origin(of url: String, _ job: RunningJob) -> String? {
        guard case .download(let download) = job.record.spec.work else { return nil }
        return download.urls.firstIndex(of: url).map { job.record.spec.origin(mirror: $0) }
    }

    private func ended(
        _ id: Int64, _ range: Range<Int64>, _ comparison: Comparison, _ outcome: ExchangeOutcome,
        on host: isolated some MixHost
    ) {
        guard let job = host.underWay(id), let check = checks[id] else { return }
        job.phase = .saving
        host.count(job, moved: outcome.received)
        job.result?.transferred += outcome.received
        let position = comparison.position
        let difference = comparison.difference
        if let difference { check.differences.append(difference) }
        let action = check.comparison.compared(
            to: position, isDifferent: difference != nil,
            hasFailed: difference == nil && position < range.upperBound)
        perform(action, job, check, on: host)
    }

    // MARK: Judging

    /// Checks the digest of the file with those differences replaced.
    private func judge(_ numbers: [Int], _ job: RunningJob, _ check: Check, on host: isolated some MixHost) {
        let id = job.candidate.id
        let item = check.item
        let differences = numbers.map { check.differences[$0] }
        engine.workers.execute { [host] in
            let isRight = Result { () throws(TransferError) in try Self.isRight(item, with: differences) }
            host.loop.execute {
                host.onLoop { host in
                    host.mixChecks.judged(id, isRight, on: host)
                    host.pump()
                }
            }
        }
    }

    /// Replaces the differences and verifies the file. If the digest is wrong, restores the file. Blocks, so it belongs
    /// on a worker thread.
    private static func isRight(
        _ item: DownloadCompletion.Item, with differences: [Comparison.Difference]
    ) throws(TransferError) -> Bool {
        for difference in differences { try item.part.overwrite(difference.new, at: difference.range.lowerBound) }
        do throws(TransferError) {
            _ = try DownloadCompletion.verify(item)
            return true
        } catch {
            guard error.code == .checksumMismatch else { throw error }
        }
        for difference in differences { try item.part.overwrite(difference.old, at: difference.range.lowerBound) }
        return false
    }

    private func judged(_ id: Int64, _ isRight: Result<Bool, TransferError>, on host: isolated some MixHost) {
        guard let job = host.underWay(id), let check = checks[id] else { return }
        switch isRight {
        case .success(let isRight): perform(check.comparison.judged(isRight: isRight), job, check, on: host)
        // The disk failed.
        case .failure: giveUp(job, check, on: host)
        }
    }
}
