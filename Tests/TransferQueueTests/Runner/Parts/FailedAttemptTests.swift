import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue

/// The step after a failed attempt, by the job's rules alone.
@Suite struct FailedAttemptTests {
    private func record(mirrors: Int = 1, attempts: Int = 0, limit: Int = 3) -> JobRecord {
        var spec = Sample.download("http://h.example/0", to: "/tmp/f", settings: Sample.retries(limit))
        // The delay is at least half a second, so it is no rounding of zero.
        (spec.settings.retry.scale, spec.settings.retry.maxDelay) = (.seconds(1), .seconds(60))
        if case .download(var download) = spec.work {
            download.urls = (0..<mirrors).map { "http://h.example/\($0)" }
            spec.work = .download(download)
        }
        var record = JobRecord(id: 1, batch: 1, identity: "a", spec: Shared(wrappedValue: spec), claimed: 0)
        record.attempts = attempts
        return record
    }

    private func describe(
        _ attempt: FailedAttempt, isEndless: Bool = false, isHeld: Bool = false
    ) -> String {
        let (verdict, exhaustion) = attempt.verdict(isEndless: isEndless, isHeld: isHeld) { 0.5 }
        let end = exhaustion == nil ? "" : ", origin given up"
        switch verdict {
        case .again(let record, let delay, _):
            return "again at \(record.mirror) after \(record.attempts), \(delay > .zero ? "later" : "now")\(end)"
        case .over(let error, let attempts, let isOurs):
            return "over after \(attempts): \(error.code)\(isOurs ? ", ours" : "")\(end)"
        }
    }

    private let gone = TransferError(.httpStatus, "404", cause: .http(status: 404))
    private let lost = TransferError(.connectionLost, "lost", isTransient: true)

    @Test func aPassingFailureIsTriedAgainUntilTheLimit() {
        #expect(describe(FailedAttempt(of: record(), lost, bodyLeft: false)) == "again at 0 after 1, later")
        let last = FailedAttempt(of: record(attempts: 3), lost, bodyLeft: false)
        #expect(describe(last) == "over after 4: connectionLost")
    }

    @Test func aRefusalOfSeveralTogetherSpendsTheFirstOnesAttemptOnly() {
        func refused(_ error: TransferError, attempts: Int, limit: Int = 3) -> String {
            var attempt = FailedAttempt(of: record(attempts: attempts, limit: limit), error, bodyLeft: false)
            attempt.repeatsOthers = true
            return describe(attempt)
        }
        #expect(refused(Sample.busy(429), attempts: 3) == "again at 0 after 3, later")
        #expect(refused(Sample.busy(503), attempts: 0) == "again at 0 after 0, later")
        #expect(refused(lost, attempts: 0) == "again at 0 after 1, later")
        #expect(refused(Sample.busy(429), attempts: 0, limit: 0) == "over after 1: httpStatus", "others go on")
        let first = FailedAttempt(of: record(attempts: 3), Sample.busy(429), bodyLeft: false)
        #expect(describe(first) == "over after 4: httpStatus, origin given up")
    }

    @Test func eachMirrorHasItsTurnBeforeTheDelay() {
        #expect(describe(FailedAttempt(of: record(mirrors: 2), lost, bodyLeft: false)) == "again at 1 after 1, now")
        var second = record(mirrors: 2, attempts: 1)
        second.mirror = 1
        #expect(describe(FailedAttempt(of: second, lost, bodyLeft: false)) == "again at 0 after 2, later")
    }

    @Test func aLastingFailureSpendsItsMirrorOnly() {
        #expect(describe(FailedAttempt(of: record(mirrors: 2), gone, bodyLeft: false)) == "again at 1 after 1, now")
        var spent = record(mirrors: 2)
        spent.spendMirror()
        spent.mirror = 1
        #expect(describe(FailedAttempt(of: spent, gone, bodyLeft: false)) == "over after 1: httpStatus")
    }

    @Test func aFaultOfThisMachineIsNoMirrorsFault() {
        let denied = TransferError(.fileAccess, "denied", cause: .os(errno: EACCES))
        let attempt = FailedAttempt(of: record(mirrors: 2), denied, bodyLeft: false)
        #expect(describe(attempt) == "over after 1: fileAccess, ours")
    }

    @Test func anOriginIsGivenUpUnlessItsJobsHaveNoEnd() {
        let attempt = FailedAttempt(of: record(attempts: 3), Sample.unreachable(), bodyLeft: false)
        #expect(describe(attempt) == "over after 4: cannotConnect, origin given up")
        #expect(describe(attempt, isEndless: true) == "again at 0 after 4, later")
        #expect(describe(attempt, isEndless: true, isHeld: true) == "again at 0 after 4, now")
    }

    @Test func furtherThanBeforeCountsAnewButNotOnAFullDisk() {
        var attempt = FailedAttempt(of: record(attempts: 3), lost, bodyLeft: false)
        attempt.countAnew()
        #expect(describe(attempt) == "again at 0 after 1, later")
        let full = TransferError(.diskFull, "full", cause: .os(errno: ENOSPC), isTransient: true)
        var other = FailedAttempt(of: record(attempts: 3), full, bodyLeft: false)
        other.countAnew()
        #expect(describe(other) == "over after 4: diskFull, ours")
    }

    @Test func aBodyThatMayHaveBeenTakenIsntSentAgain() {
        let spec = Sample.upload("/f", to: "http://h.example/in", protocol: .post)
        let record = JobRecord(id: 1, batch: 1, identity: "a", spec: Shared(wrappedValue: spec), claimed: 0)
        let attempt = FailedAttempt(of: record, lost, bodyLeft: true)
        #expect(!attempt.mayRepeat)
        #expect(describe(attempt) == "over after 1: mayHaveBeenSent")
        #expect(FailedAttempt(of: record, lost, bodyLeft: false).mayRepeat)
    }

    @Test func theReportToTheOriginFollowsFromTheFailure() {
        let origin = "http://h.example:80"
        let silent = FailedAttempt(of: record(), lost, bodyLeft: false)
        #expect(silent.news(of: origin, isEndless: true) == .failed)
        #expect(silent.news(of: origin, isEndless: false) == .answered)
        #expect(FailedAttempt(of: record(), gone, bodyLeft: false).news(of: origin, isEndless: true) == .answered)
        let busy = FailedAttempt(of: record(), Sample.busy(), bodyLeft: false)
        #expect(busy.news(of: origin, isEndless: false) == .failed)
        let missing = TransferError(.fileMissing, "gone")
        #expect(FailedAttempt(of: record(), missing, bodyLeft: false).news(of: origin, isEndless: true) == .none)
    }
}
