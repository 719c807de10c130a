import CTransferLinux
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

/// The part of the runner that records of jobs need.
protocol RecordHost: PartHost {
    var recording: Recording { get }
    /// Whether there is no other work, so that records need not gather.
    var isRecordAwaited: Bool { get }
    /// Takes the result of a group that is in the store.
    func didRecord(_ ends: [JobEnd], _ steps: [JobStep], _ recorded: RecordedGroup)
}

/// The writing of ends and steps of jobs, when the ``Recorder`` decides.
final class Recording {
    private var recorder = Recorder(now: .now)

    var isEmpty: Bool { recorder.isEmpty }
    /// The jobs that return to the queue and are not recorded yet.
    var steps: [JobStep] { recorder.steps }

    func add(_ end: JobEnd) { recorder.add(end) }

    func add(_ step: JobStep) { recorder.add(step) }

    /// Returns whether a record of the job is still unwritten.
    func holds(_ id: Int64) -> Bool { recorder.holds(id) }

    func changeSteps(where isMeant: (JobStep) -> Bool, _ change: (inout JobStep) -> Void) {
        recorder.change(where: isMeant, change)
    }

    func cancelSteps(where isMeant: (JobStep) -> Bool) { recorder.cancel(where: isMeant) }

    /// Resumes the waiter once each of the jobs has a record.
    func wait(for jobs: Set<Int64>, _ waiter: CheckedContinuation<Void, Never>) {
        recorder.givenBack.wait(for: jobs, waiter)
    }

    /// Resumes all waiters at the end of the run.
    func endWaits() { recorder.givenBack.tellAll() }

    /// Writes the gathered records in one transaction.
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
