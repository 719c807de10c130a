import TransferCore
import TransferEngine
import TransferEventLoop

// Jobs that are under way and are to become other ones.
extension QueueRunner {
    /// How long a job that was taken back isn't taken again, in milliseconds: it's changed meanwhile. Where that comes to
    /// nothing it goes on as it was.
    static let changeTakes: Int64 = 5000

    /// Takes jobs back from whatever they are at, and returns when that is recorded.
    func giveBack(_ jobs: Set<Int64>) async {
        // Those that were being claimed are known after it.
        await storeTurn()
        let open = jobs.filter { id in
            running[id] != nil || admission.claimed[id] != nil || recorder.holds(id)
        }
        if !open.isEmpty {
            await withCheckedContinuation { waiter in
                recorder.givenBack.wait(for: open, waiter)
                takeBack(open)
                pump()
            }
        }
        // Those that were being recorded are now.
        await storeTurn()
    }

    /// Takes back what was claimed of a batch and hasn't started, for a moment in which its jobs may become other ones.
    func giveBackUnstarted(of batch: String) async {
        await storeTurn()
        let jobs = admission.ids { batches[$0.batch]?.name == batch }
        guard !jobs.isEmpty else { return }
        await withCheckedContinuation { waiter in
            recorder.givenBack.wait(for: jobs, waiter)
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
        recorder.change(where: { jobs.contains($0.id) && $0.state != .paused }) { step in
            step.state = .waiting
            step.due = MonotonicTime.now + .milliseconds(Self.changeTakes)
        }
    }

    /// Returns when everything that was asked of the store so far has been done, and its answers were heard.
    private func storeTurn() async {
        await withCheckedContinuation { waiter in
            withStore { _ in
            } then: { _, _ in
                waiter.resume()
            }
        }
    }

    /// Jobs that were claimed and haven't started.
    func takeBack(_ stop: RunningJob.Stop, where isMeant: (JobRecord) -> Bool) {
        preparing.forgetAhead()
        let meant = admission.ids(where: isMeant)
        for candidate in scheduler.remove(where: { meant.contains($0.id) }) {
            guard let record = admission.take(candidate.id) else { continue }
            let url = record.spec.urls[min(record.mirror, record.spec.urls.count - 1)]
            leave(RunningJob(candidate: candidate, record: record, started: .now, url: url), for: stop)
        }
    }
}
