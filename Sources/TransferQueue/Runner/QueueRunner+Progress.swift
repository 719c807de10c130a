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
            // Bytes that were held before have no part in the rate.
            let moved = job.bytesMoved
            let now = Int64(Double(moved - job.pace.lastMoved) / seconds)
            let rate = job.pace.rate == 0 ? max(0, now) : max(0, (job.pace.rate * 2 + now) / 3)
            job.pace.lastMoved = moved
            job.pace.rate = rate
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
            let underWay = active.filter(\.isUnderWay)
            let bytes = run.settledBytes + active.reduce(0) { $0 + $1.bytesMoved }
            run.sample(bytes: bytes, now: now)
            run.totals.bytes = bytes
            var progress = BatchProgress()
            progress.totals = run.totals
            progress.active = underWay.count
            progress.rate = run.rate
            progress.eta = run.eta
            noteWaits(of: id, now, &progress)
            emit(id, .batchProgress(progress))
            let totals = progress.totals
            let report = BatchReport(progress)
            reports.batches[id] = report
            let (rate, eta) = (run.rate, run.eta?.components.seconds)
            let jobs = underWay.prefix(Self.mostTold).map(\.candidate.id)
            withStore {
                try $0.publish(
                    .progress(
                        RunProgress(
                            batch: id, totals: totals, rate: rate, eta: eta, active: report.active, underWay: jobs,
                            waitingFor: report.networkWait)))
            } then: { _, _ in
            }
        }
    }

    /// For `transfer status` and `transfer why`: nobody else knows why what has been claimed isn't under way.
    private func publishHostWaits() {
        let waits = scheduler.originWaits()
        guard waits != reports.hostWaits else { return }
        reports.hostWaits = waits
        withStore {
            try $0.publish(.hostWaits(waits))
        } then: { _, _ in
        }
    }

    /// Whether a report would say something that the last one didn't.
    var hasNews: Bool {
        batches.contains { id, run in
            guard run.isChecked, !run.isFinished else { return !run.isFinished }
            var progress = BatchProgress()
            progress.totals = run.totals
            noteWaits(of: id, .now, &progress)
            guard let last = reports.batches[id], last.rate == 0 else { return true }
            progress.totals.bytes = last.totals.bytes
            return BatchReport(progress) != last
        }
    }

    /// Of those under way at a time as many are told to other processes by their numbers.
    private static let mostTold = 1000

    /// Which of the batch's jobs wait, and for what most of them do.
    private func noteWaits(of batch: Int64, _ now: MonotonicTime, _ progress: inout BatchProgress) {
        let left = batches[batch]?.remaining ?? 0
        let busy = running.values.count { $0.record.batch == batch }
        let asleep = admission.sleepers.filter { $0.lane.batch == batch }
        let held = scheduler.held(batch: batch)
        // Counts of what is still in the store are upper bounds.
        let most = max(0, left - busy)
        progress.waiting = min(most, asleep.count + held.byOrigin.values.reduce(held.byNetwork, +))
        if let wait = following.wait(of: batch, on: self) {
            progress.waitReason = wait
            progress.waitingForReason = min(most, held.byNetwork)
        } else if let worst = held.byOrigin.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
            let pause = scheduler.pause(of: worst.key, now: now)
        {
            progress.waitReason = .held(by: worst.key, pause.error, remaining: pause.remaining)
            progress.waitingForReason = min(most, worst.value + asleep.count { $0.lane.origin == worst.key })
        } else if let next = asleep.min(by: { $0.due < $1.due }) {
            let remaining = max(.zero, next.due - now)
            progress.waitReason = next.disk.map { .disk($0, remaining: remaining) } ?? .retry(remaining: remaining)
            progress.waitingForReason = min(most, asleep.count { ($0.disk != nil) == (next.disk != nil) })
        }
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
            case .host(let origin, let status, let message, _, let isAsked):
                .host(origin: origin, status: status, message: message, remaining: .zero, isAsked: isAsked)
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
