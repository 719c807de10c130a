import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

// How many parts of an upload are sent at a time: looked at a few times a second, while its dialogue follows the link.
extension UploadDialogues {
    private static let interval = Duration.milliseconds(100)

    func schedule(on host: isolated some UploadHost) {
        let timer = host.timer(.uploads)
        if !timer.isScheduled { timer.schedule(at: .now + Self.interval) }
    }

    func tick(on host: isolated some UploadHost) {
        var isNeeded = false
        for job in Array(host.jobs) where job.stop == nil && job.talk?.dialogue.followsLink == true {
            isNeeded = true
            look(job, on: host)
        }
        if isNeeded { schedule(on: host) }
    }

    private func look(_ job: RunningJob, on host: isolated some UploadHost) {
        guard var talk = job.talk, !talk.isSaving, !talk.legs.isEmpty else { return }
        let before = talk.growth.wanted
        let least = UploadSpread.initial
        // A part that has just ended has a successor as soon as its digest is known: that is no other number.
        let sending = talk.legs.count
        var wanted = talk.growth.sample(
            now: MonotonicTime.now.inSeconds, bytes: talk.sent, left: talk.source.size - talk.position,
            worked: talk.legs.values.map(\.handle.workedTime).max() ?? 0,
            connections: sending == before - 1 ? before : sending)
        let spare = host.spareConnections(to: job.candidate.lane.origin)
        if spare < 0, talk.extra > 0 {
            wanted = max(least, least + talk.extra + spare)
            talk.growth.yields(to: wanted)
        }
        wanted = min(wanted, least + talk.extra + max(0, spare))
        job.talk = talk
        count(job, extra: max(0, wanted - least), on: host)
        guard wanted != before || wanted > sending else { return }
        advance(job.candidate.id, on: host) { $0.spread(over: wanted, now: WallClock.seconds) }
    }

    /// The server wants fewer at a time, or a connection was lost.
    func noteRefusal(_ job: RunningJob, _ outcome: ExchangeOutcome) {
        guard var talk = job.talk, talk.dialogue.followsLink else { return }
        let (now, count) = (MonotonicTime.now.inSeconds, talk.legs.count + 1)
        if let head = outcome.head, [429, 503].contains(head.status) {
            talk.growth.refused(now: now, connections: count, working: talk.legs.values.count { $0.meter.sent > 0 })
        } else if case .failure(let error) = outcome.result, error.code == .connectionLost {
            talk.growth.lost(now: now, connections: count)
        } else {
            return
        }
        job.talk = talk
    }

    /// Counts the requests beyond those that every upload in parts has, so that other jobs can claim their places.
    func count(_ job: RunningJob, extra: Int, on host: isolated some UploadHost) {
        guard let old = job.talk?.extra, old != extra else { return }
        let origin = job.candidate.lane.origin
        for _ in old..<max(old, extra) { host.connectionOpened(to: origin) }
        for _ in extra..<max(old, extra) { host.connectionClosed(to: origin) }
        job.talk?.extra = extra
    }
}
