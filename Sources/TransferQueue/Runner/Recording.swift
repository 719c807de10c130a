import CTransferFailpoint
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

/// The runner, as far as records of jobs need it.
protocol RecordHost: PartHost {
    var recording: Recording { get }
    /// Whether there is no other work, so that records needn't gather.
    var isRecordAwaited: Bool { get }
    /// The group is in the store.
    func didRecord(_ ends: [JobEnd], _ steps: [JobStep], _ recorded: RecordedGroup)
}

/// Writes ends and steps of jobs down, as the ``Recorder`` says when.
final class Recording {
    private var recorder = Recorder(now: .now)

    var isEmpty: Bool { recorder.isEmpty }
    /// Jobs that go back to the queue and aren't recorded yet.
    var steps: [JobStep] { recorder.steps }

    func add(_ end: JobEnd) { recorder.add(end) }

    func add(_ step: JobStep) { recorder.add(step) }

    /// Whether something of the job is still to be written.
    func holds(_ id: Int64) -> Bool { recorder.holds(id) }

    func changeSteps(where isMeant: (JobStep) -> Bool, _ change: (inout JobStep) -> Void) {
        recorder.change(where: isMeant, change)
    }

    func cancelSteps(where isMeant: (JobStep) -> Bool) { recorder.cancel(where: isMeant) }

    /// Calls the waiter once something is recorded of all the jobs.
    func wait(for jobs: Set<Int64>, _ waiter: CheckedContinuation<Void, Never>) {
        recorder.givenBack.wait(for: jobs, waiter)
    }

    /// The run is over: nobody waits any longer.
    func endWaits() { recorder.givenBack.tellAll() }

    /// Writes what has come together in one transaction.
    func flush(on host: isolated some RecordHost) {
        switch recorder.next(now: .now, isAwaited: host.isRecordAwaited) {
        case .nothing: break
        case .later(let time):
            let timer = host.timer(.record)
            if !timer.isScheduled { timer.schedule(at: time) }
        case .write(let ends, let steps): write(ends, steps, on: host)
        }
    }

    private func write(_ ends: [JobEnd], _ steps: [JobStep], on host: isolated some RecordHost) {
        Failpoint.reached(.recordDue)
        host.withStore {
            try $0.record(ends, steps)
        } then: { host, recorded in
            Failpoint.reached(.recordCommitted)
            host.recording.recorder.written()
            host.didRecord(ends, steps, recorded)
            host.recording.recorder.givenBack.recorded(ends.map(\.id) + steps.map(\.id))
        }
    }
}
