import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore

/// The part of the runner that reports need.
protocol ReportHost: PartHost {
    var reporter: Reporter { get }
    var jobs: Dictionary<Int64, RunningJob>.Values { get }
    var batches: RunningBatches { get }
    var sharesBatches: Bool { get }
    /// Whether this process works on all jobs that other processes bring.
    var awaitsOthers: Bool { get }
    /// Reads what other processes have done meanwhile.
    func lookForWork()
    /// Returns the origins that jobs wait for.
    func originWaits() -> Set<OriginWait>
    /// Returns the waiting jobs of the batch, with their reasons.
    func waits(of batch: Int64, busy: Int) -> BatchWaits
    /// Returns why an origin is paused now, and for how long.
    func pause(of origin: String, now: MonotonicTime) -> (error: TransferError, remaining: Duration)?
    /// Counts the bytes that used metered links.
    func accountAll()
}

/// The news of a run in progress: rows of jobs, reports of batches, and the state that other processes read in the
/// store.
final class Reporter {
    private var reports = Reports()
    let gauges = RunGauges()
    /// The time between two rows of a job; `nil` if the program wants none.
    private let interval: Duration?

    /// The most jobs whose numbers and states are published to other processes.
    private static let mostReported = 1000
    private static let mostRows = 50
    /// The time for which a sign from a watching user lasts; such users repeat it every few seconds.
    private static let watch = Duration.seconds(15)

    init(interval: Duration?) { self.interval = interval }

    /// Notes that a user on another machine watches single transfers for a while from now.
    func isWatched() { reports.watchedUntil = .now + Self.watch }

    /// Forgets the reports, so that a later run reports everything anew.
    func forget() { reports.batches.removeAll() }

    // MARK: Ticks

    /// Schedules the next tick. While nothing runs or changes, the process wakes only once a minute.
    func scheduleTick(on host: isolated some ReportHost) {
        guard !host.jobs.isEmpty || !host.batches.allHaveEnded || host.awaitsOthers else {
            return host.timer(.tick).cancel()
        }
        // Only polling shows what other processes have done.
        let isIdle = host.jobs.isEmpty && !host.sharesBatches && !hasNews(on: host)
        let timer = host.timer(.tick)
        // A tick that is due soon is kept, because it is the last report on finished work.
        guard !timer.isScheduled || reports.isIdleTick && !isIdle else { return }
        reports.isIdleTick = isIdle
        timer.schedule(at: .now + (isIdle ? .seconds(60) : interval ?? .seconds(1)))
    }

    func tick(on host: isolated some ReportHost) {
        let now = MonotonicTime.now
        for job in host.jobs { job.pace.window.note(job.movedInAll, at: now) }
        if interval != nil { reportJobs(on: host) }
        host.accountAll()
        let perSecond = interval.map { max(1, Int(1 / max(0.1, $0.inSeconds))) } ?? 1
        let isLast = host.jobs.isEmpty && !hasNews(on: host)
        let isBatchTick = reports.isBatchTick(every: perSecond)
        // The lease is longer than three idle ticks.
        if reports.isRenewal(now) {
            host.withStore {
                _ = try $0.renew()
            } then: { _, _ in
            }
        }
        if reports.isIdleTick || isLast || isBatchTick { reportBatches(now, on: host) }
        if host.sharesBatches, reports.isLook(now, isIdle: host.jobs.isEmpty) { host.lookForWork() }
        scheduleTick(on: host)
    }

    // MARK: Reports

    private func reportJobs(on host: isolated some ReportHost) {
        for job in host.jobs where job.isUnderWay {
            host.emit(job.record.batch, .progress(job: job.record.identity, JobProgress(job)))
        }
    }

    func reportBatches(_ now: MonotonicTime, on host: isolated some ReportHost) {
        publishHostWaits(on: host)
        for id in Array(host.batches.ids) {
            guard let run = host.batches[id], run.isChecked, !run.isFinished else { continue }
            let active = host.jobs.filter { $0.record.batch == id }
            let underWay = active.filter(\.isUnderWay)
            let bytes = run.settledBytes + active.reduce(0) { $0 + $1.bytesMoved }
            run.sample(
                bytes: bytes,
                underWay: underWay.map {
                    BatchOutlook.Transfer(total: $0.total, completed: $0.position, rate: $0.pace.window.rate)
                },
                now: now)
            run.totals.bytes = bytes
            var progress = BatchProgress()
            progress.totals = run.totals
            progress.active = underWay.count
            progress.rate = run.rate
            progress.eta = run.eta
            host.waits(of: id, busy: active.count).note(in: &progress, now: now) { host.pause(of: $0, now: now) }
            host.emit(id, .batchProgress(progress))
            let report = BatchReport(progress)
            reports.batches[id] = report
            let reported = underWay.prefix(Self.mostReported)
            let sources = reported.reduce(into: [Int64: [JobSource]]()) { all, job in
                let sources = job.sources.reported(job) + job.congestionNote
                if !sources.isEmpty { all[job.candidate.id] = sources }
            }
            var word = RunProgress(
                batch: id, totals: progress.totals, rate: run.rate, eta: run.eta?.components.seconds,
                active: report.active, underWay: reported.map(\.candidate.id), sources: sources,
                waitingFor: report.networkWait)
            word.bytes = active.prefix(Self.mostReported).reduce(into: [:]) { $0[$1.candidate.id] = $1.position }
            if now < reports.watchedUntil { word.rows = Self.rows(underWay) }
            host.publish(.progress(word))
        }
    }

    /// Returns the rows of the largest transfers.
    private static func rows(_ underWay: [RunningJob]) -> [RunProgress.Row] {
        let rows = underWay.map { RunProgress.Row(id: $0.candidate.id, progress: JobProgress($0)) }
        guard rows.count > mostRows else { return rows }
        let sorted = rows.sorted { ($1.progress.size, $0.id) < ($0.progress.size, $1.id) }
        return Array(sorted.prefix(mostRows))
    }

    /// Publishes waits for origins, for `transfer status` and `transfer why`: only this process knows why claimed jobs
    /// are not under way.
    private func publishHostWaits(on host: isolated some ReportHost) {
        let waits = host.originWaits()
        guard waits != reports.hostWaits else { return }
        reports.hostWaits = waits
        host.publish(.hostWaits(waits))
    }

    /// Returns whether a report would differ from the last one.
    private func hasNews(on host: isolated some ReportHost) -> Bool {
        let now = MonotonicTime.now
        return host.batches.all.contains { run in
            guard run.isChecked, !run.isFinished else { return !run.isFinished }
            var progress = BatchProgress()
            progress.totals = run.totals
            let busy = host.jobs.count { $0.record.batch == run.id }
            host.waits(of: run.id, busy: busy).note(in: &progress, now: now) { host.pause(of: $0, now: now) }
            guard let last = reports.batches[run.id], last.rate == 0 else { return true }
            progress.totals.bytes = last.totals.bytes
            return BatchReport(progress) != last
        }
    }
}

extension JobProgress {
    fileprivate var size: Int64 { max(total ?? 0, completed) }

    fileprivate init(_ job: RunningJob) {
        self.init(
            completed: job.position, total: job.total, rate: job.pace.window.rate,
            phase: job.isMoving ? .transferring : .connecting)
        sources = job.sources.reported(job)
        isCopy = job.record.spec.copySource != nil
    }
}
