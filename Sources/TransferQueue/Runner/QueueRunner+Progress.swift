import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    func reportJobs() {
        let seconds = (configuration.progressInterval ?? .seconds(1)).inSeconds
        for job in running.values {
            guard job.isUnderWay else { continue }
            let isUpload = job.record.spec.isUpload
            let position = isUpload ? job.talk?.position ?? job.meter.sent : job.meter.position
            let now = Int64(Double(position - job.lastPosition) / seconds)
            let rate = job.rate == 0 ? max(0, now) : max(0, (job.rate * 2 + now) / 3)
            job.lastPosition = position
            job.rate = rate
            var total = job.meter.total
            if case .upload(let file) = job.ready { total = file.size }
            let hasBegun = job.start != nil || (isUpload && position > 0)
            emit(
                job.record.batch,
                .progress(
                    job: job.record.identity,
                    JobProgress(
                        completed: position, total: total, rate: rate, phase: hasBegun ? .transferring : .connecting)))
        }
    }

    func reportBatches(_ now: MonotonicTime) {
        publishHostWaits()
        for id in Array(batches.keys) {
            guard let run = batches[id], run.isChecked, !run.isFinished else { continue }
            let active = running.values.filter { $0.record.batch == id }
            let bytes = run.settledBytes + active.reduce(0) { $0 + bytesMoved($1) }
            run.sample(bytes: bytes, now: now)
            run.totals.bytes = bytes
            var progress = BatchProgress()
            progress.totals = run.totals
            progress.active = active.filter(\.isUnderWay).count
            progress.waiting = waiting(of: id)
            progress.rate = run.rate
            progress.eta = run.eta
            progress.waitReason = waitReason(of: id, now)
            emit(id, .batchProgress(progress))
            let report = BatchReport(progress)
            reported[id] = report
            let (rate, eta) = (run.rate, run.eta?.components.seconds)
            withStore {
                try $0.publish(
                    batch: id, rate: rate, eta: eta, active: report.active, waitingFor: report.networkWait)
            } then: { _, _ in
            }
        }
    }

    /// For `transfer status` and `transfer why`: nobody else knows why what has been claimed isn't under way.
    private func publishHostWaits() {
        let waits = scheduler.originWaits()
        guard waits != publishedWaits else { return }
        publishedWaits = waits
        withStore {
            try $0.save(hostWaits: waits)
        } then: { _, _ in
        }
    }

    /// Whether a report would say something that the last one didn't.
    var hasNews: Bool {
        batches.contains { id, run in
            guard run.isChecked, !run.isFinished else { return !run.isFinished }
            var progress = BatchProgress()
            progress.totals = run.totals
            progress.waiting = waiting(of: id)
            progress.waitReason = waitReason(of: id, .now)
            guard let last = reported[id], last.rate == 0 else { return true }
            progress.totals.bytes = last.totals.bytes
            return BatchReport(progress) != last
        }
    }

    private func waiting(of batch: Int64) -> Int {
        sleepers.filter { $0.lane.batch == batch }.count + scheduler.heldBack()
            + (scheduler.heldByNetwork()[batch] ?? 0)
    }

    /// Bytes that the transfer under way has moved.
    func bytesMoved(_ job: RunningJob) -> Int64 {
        if job.record.spec.isUpload {
            // What has ended is counted already.
            if case .saving = job.phase, job.talk == nil { return 0 }
            return job.sent
        }
        return max(0, job.meter.position - (job.start?.continued ?? job.meter.position))
    }

    private func waitReason(of batch: Int64, _ now: MonotonicTime) -> WaitReason? {
        if let wait = networkWait(of: batch) { return wait }
        if let pause = scheduler.longestPause(now: now) {
            return .host(
                origin: pause.origin, status: pause.error.status, message: pause.error.message,
                remaining: pause.remaining)
        }
        guard let next = sleepers.min(by: { $0.due < $1.due }) else { return nil }
        let remaining = max(.zero, next.due - now)
        return next.disk.map { .disk($0, remaining: remaining) } ?? .retry(remaining: remaining)
    }
}

/// What a report says, but for what goes on by itself: a countdown.
struct BatchReport: Equatable {
    var totals: BatchTotals
    var active: Int
    var waiting: Int
    var rate: Int64
    private var waitsFor: WaitReason?

    init(_ progress: BatchProgress) {
        totals = progress.totals
        active = progress.active
        waiting = progress.waiting
        rate = progress.rate
        waitsFor =
            switch progress.waitReason {
            case .host(let origin, let status, let message, _):
                .host(origin: origin, status: status, message: message, remaining: .zero)
            case .retry: .retry(remaining: .zero)
            case .disk(let message, _): .disk(message, remaining: .zero)
            case let reason: reason
            }
    }

    /// Why the network keeps everything that is left from going on.
    var networkWait: String? {
        guard active == 0, case .network(let reason) = waitsFor else { return nil }
        return reason
    }
}
