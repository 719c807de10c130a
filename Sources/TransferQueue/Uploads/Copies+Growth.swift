import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

// The number of connections over which sources are read. It is reviewed a few times a second.
extension Copies {
    private static let interval = Duration.milliseconds(100)

    /// Begins to review the source of a copy that has begun.
    func follow(_ job: RunningJob, _ source: RemoteSource, on host: isolated some CopyHost) {
        guard let from = job.record.spec.copySource else { return }
        let isBound = from.settings.network.require != nil || job.record.spec.settings.network.require != nil
        forget(job.candidate.id, on: host)
        readings[job.candidate.id] = CopyReading(source, from, isBoundToLink: isBound)
        schedule(on: host)
    }

    func tick(on host: isolated some CopyHost) {
        for (id, reading) in readings {
            guard let job = host.underWay(id), job.stop == nil, case .copy(let source) = job.ready,
                source === reading.source, job.talk != nil
            else {
                forget(id, on: host)
                continue
            }
            let wanted = reading.look(
                now: MonotonicTime.now.inSeconds, spare: host.spareConnections(to: reading.origin))
            count(reading, extra: wanted - 1, on: host)
        }
        schedule(on: host)
    }

    private func schedule(on host: isolated some CopyHost) {
        guard !readings.isEmpty else { return }
        let timer = host.timer(.copies)
        if !timer.isScheduled { timer.schedule(at: .now + Self.interval) }
    }

    /// Frees the places of a copy's connections.
    private func forget(_ id: Int64, on host: isolated some CopyHost) {
        guard let reading = readings.removeValue(forKey: id) else { return }
        count(reading, extra: 0, on: host)
        host.pump()
    }

    private func count(_ reading: CopyReading, extra: Int, on host: isolated some CopyHost) {
        for _ in reading.extra..<max(reading.extra, extra) { host.connectionOpened(to: reading.origin) }
        for _ in extra..<max(reading.extra, extra) { host.connectionClosed(to: reading.origin) }
        reading.extra = extra
    }
}
