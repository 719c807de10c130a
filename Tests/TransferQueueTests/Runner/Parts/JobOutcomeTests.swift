import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling

/// The record and the events of a job that leaves the run.
@Suite struct DepartureTests {
    private let job: RunningJob

    init() {
        let spec = Sample.download("http://h.example/0", to: "/tmp/f")
        var record = JobRecord(id: 7, batch: 3, identity: "a", spec: .init(wrappedValue: spec), claimed: 0)
        (record.attempts, record.askedWait) = (2, .seconds(9))
        let lane = Lane(batch: 3, origin: "http://h.example:80", network: "n")
        job = RunningJob(
            candidate: Scheduler.Candidate(id: 7, lane: lane, priority: 0), record: record, started: .seconds(0),
            url: "http://h.example/0")
    }

    private func describe(_ outcome: JobOutcome, again: FailedFiles.Delays? = nil) -> String {
        switch outcome.entry(of: job, again: again, change: 5000) {
        case .end(let end):
            let name =
                switch end.outcome {
                case .done: "done"
                case .kept: "kept"
                case .failed(_, let attempts, let host): "failed \(attempts) \(host ?? "ours")"
                case .cancelled: "cancelled"
                case .dropped(let isChanged): "dropped \(isChanged)"
                }
            return name + (end.again == nil ? "" : ", again")
        case .step(let step):
            return "\(step.state) \(step.due == nil ? "at once" : "later"), \(step.attempts) spent, "
                + "asked \(step.askedWait), \(step.network)"
        }
    }

    private let error = TransferError(.connectionLost, "lost", isTransient: true)

    @Test func endsAreRecordedAsTheyAre() {
        let receipt = Sample.receipt("b", "a")
        #expect(describe(.done(receipt, FileStamp(size: 7, modified: 0))) == "done")
        #expect(describe(.kept(receipt, nil)) == "kept")
        #expect(describe(.cancelled) == "cancelled")
        #expect(describe(.replaced(isChanged: true)) == "dropped true")
        #expect(describe(.failed(error, attempts: 3, host: "h.example")) == "failed 3 h.example")
        #expect(describe(.failed(error, attempts: 3, host: nil)) == "failed 3 ours")
    }

    @Test func stepsNameTheTimeOfTheNextAttempt() {
        var next = job.record
        next.attempts = 3
        let tables: [(JobOutcome, String)] = [
            (.retry(next, after: .zero, because: error, resume: nil), "queued at once, 3 spent"),
            (.retry(next, after: .seconds(1), because: error, resume: nil), "waiting later, 3 spent"),
            (.wait(.slot, after: nil, resume: nil, startsCountAnew: false), "queued at once, 2 spent"),
            (.wait(.slot, after: .seconds(1), resume: nil, startsCountAnew: false), "waiting later, 2 spent"),
            (.release(.paused, resume: nil), "paused at once, 2 spent"),
            (.release(.waiting, resume: nil), "waiting later, 2 spent"),
        ]
        for (outcome, text) in tables {
            #expect(describe(outcome) == "\(text), asked \(Duration.seconds(9)), n")
        }
        let anew = describe(.wait(.slot, after: nil, resume: nil, startsCountAnew: true))
        #expect(anew == "queued at once, 0 spent, asked \(Duration.zero), n")
    }

    /// The record of an upload is stored with the end or step of its attempt. The complete and dropped jobs have none.
    @Test func unsettledJobsCarryTheUploadRecordThatTheyLeave() {
        let receipt = Sample.receipt("b", "a")
        let unsettled: [JobOutcome] = [
            .cancelled, .failed(error, attempts: 3, host: nil), .leftToWatcher, .release(.paused, resume: nil),
            .retry(job.record, after: .zero, because: error, resume: nil),
            .wait(.slot, after: nil, resume: nil, startsCountAnew: false),
        ]
        let settled: [JobOutcome] = [
            .done(receipt, FileStamp(size: 7, modified: 0)), .kept(receipt, nil), .replaced(isChanged: true),
        ]
        let record = UploadRecord.versionOnly
        for (left, change) in [(record, UploadChange.replaced(record)), (nil, .removed)] {
            job.leave(left)
            #expect(job.record.upload == left)
            for outcome in unsettled { #expect(upload(outcome) == change, "\(outcome)") }
            for outcome in settled { #expect(upload(outcome) == .none, "\(outcome)") }
        }
    }

    private func upload(_ outcome: JobOutcome) -> UploadChange {
        switch outcome.entry(of: job, again: nil, change: 5000) {
        case .end(let end): end.upload
        case .step(let step): step.upload
        }
    }

    @Test func onlyAWatchedFileIsRetriedAutomatically() {
        #expect(describe(.failed(error, attempts: 1, host: nil), again: FailedFiles.Delays()) == "failed 1 ours")
        job.record.watched = WatchedVersion(
            history: 1, stamp: FileStamp(size: 1, modified: 0), digest: nil, verifies: false)
        let again = describe(.failed(error, attempts: 1, host: nil), again: FailedFiles.Delays())
        #expect(again == "failed 1 ours, again")
        let unknown = TransferError(.mayHaveBeenSent, "perhaps")
        #expect(describe(.failed(unknown, attempts: 1, host: nil), again: FailedFiles.Delays()) == "failed 1 ours")
    }

    @Test func stepsAreReportedAtOnceAndEndsOnceRecorded() {
        let record = job.record
        #expect(JobOutcome.cancelled.news(of: record) == nil)
        #expect(JobOutcome.release(.queued, resume: nil).news(of: record) == nil)
        #expect(word(.release(.paused, resume: nil)) == "waiting paused")
        #expect(
            word(.retry(record, after: .seconds(2), because: error, resume: nil)) == "retrying \(Duration.seconds(2))")
        #expect(word(.wait(.slot, after: nil, resume: nil, startsCountAnew: false)) == "waiting slot")
        let full = TransferError(.diskFull, "full", cause: .os(errno: ENOSPC), isTransient: true)
        let patience = .seconds(2) + record.spec.settings.retry.rule.patience(retriesSpent: record.attempts)
        #expect(
            word(.retry(record, after: .seconds(2), because: full, resume: nil))
                == "waiting \(WaitReason.disk("full", remaining: .seconds(2), patience: patience))")
    }

    private func word(_ outcome: JobOutcome) -> String? {
        switch outcome.news(of: job.record) {
        case .waiting("a", let reason): "waiting \(reason)"
        case .retrying("a", let delay, _): "retrying \(delay)"
        default: nil
        }
    }
}
