import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    func reportJobs() {
        let seconds = (configuration.progressInterval ?? .seconds(1)).inSeconds
        for (id, job) in running {
            guard case .transferring = job.phase else { continue }
            let isUpload = job.record.spec.isUpload
            let position = isUpload ? job.meter.sent : job.meter.position
            let now = Int64(Double(position - job.lastPosition) / seconds)
            let rate = job.rate == 0 ? max(0, now) : max(0, (job.rate * 2 + now) / 3)
            running[id]?.lastPosition = position
            running[id]?.rate = rate
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
        for id in Array(batches.keys) {
            guard var run = batches[id], run.isChecked, !run.isFinished else { continue }
            let active = running.values.filter { $0.record.batch == id }
            let bytes = run.settledBytes + active.reduce(0) { $0 + bytesMoved($1) }
            run.sample(bytes: bytes, now: now)
            run.totals.bytes = bytes
            batches[id] = run
            var progress = BatchProgress()
            progress.totals = run.totals
            progress.active = active.filter { if case .transferring = $0.phase { true } else { false } }.count
            progress.waiting =
                sleepers.filter { $0.lane.batch == id }.count + scheduler.heldBack()
                + (scheduler.heldByNetwork()[id] ?? 0)
            progress.rate = run.rate
            progress.eta = run.eta
            progress.waitReason = waitReason(now)
            emit(id, .batchProgress(progress))
            let (rate, eta) = (run.rate, run.eta?.components.seconds)
            withStore {
                try $0.publish(batch: id, rate: rate, eta: eta, waitingFor: nil)
            } then: { _, _ in
            }
        }
    }

    /// Bytes that the transfer under way has moved.
    func bytesMoved(_ job: RunningJob) -> Int64 {
        guard !job.record.spec.isUpload else { return job.meter.sent }
        return max(0, job.meter.position - (job.start?.offset ?? job.meter.position))
    }

    private func waitReason(_ now: MonotonicTime) -> WaitReason? {
        if let wait = networkWait() { return wait }
        if let pause = scheduler.longestPause(now: now) {
            return .host(
                origin: pause.origin, status: pause.error.status, message: pause.error.message,
                remaining: pause.remaining)
        }
        guard let next = sleepers.map(\.notBefore).min() else { return nil }
        return .retry(remaining: .milliseconds(max(0, next - WallClock.milliseconds)))
    }
}
