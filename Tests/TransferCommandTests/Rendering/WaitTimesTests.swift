import Testing
import TransferCore

@testable import TransferJobs
@testable import TransferStore
@testable import transfer

/// The rule that each wait for a time shows that time: in `status` and `why`, as text and as JSON.
///
/// A job that waits for another job, for a slot, for a person or for a route has no time: the reason of its wait is
/// named.
@Suite struct WaitTimesTests {
    /// 2027-01-15T08:00:00Z
    private static let time: Int64 = 1_800_000_000_000

    struct Wait: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reason: JobExplanation.Reason
        var state = JobState.waiting
        var settles: Int64?
        var text: String
        var json: String
    }

    static let waits: [Wait] = [
        Wait(
            testDescription: "for its next attempt", reason: .retry(remaining: .seconds(42)), text: "in 0:42",
            json: #""for":"retry","delay":42"#),
        Wait(
            testDescription: "as its server asks (Retry-After)",
            reason: .host(origin: "https://a.example", status: 503, message: "busy", remaining: .seconds(42)),
            text: "asks for 0:42", json: #""delay":42"#),
        Wait(
            testDescription: "for a server that cannot be reached",
            reason: .host(origin: "https://a.example", status: nil, message: "refused", remaining: .seconds(42)),
            text: "next try in 0:42", json: #""delay":42"#),
        Wait(
            testDescription: "for the disk", reason: .disk("full", remaining: .seconds(42)), text: "again in 0:42",
            json: #""for":"disk","reason":"full","delay":42"#),
        Wait(
            testDescription: "for its schedule", reason: .schedule("until 22:00"), text: "until 22:00",
            json: #""reason":"until 22:00""#),
        Wait(
            testDescription: "as a watched folder's failed file",
            reason: .failed(code: "httpStatus", message: "403", host: nil, again: .seconds(42)), state: .failed,
            text: "in 0:42 at the latest", json: #""remaining":42"#),
        Wait(
            testDescription: "to be moved or deleted", reason: .done(path: "/in/a"), state: .done, settles: time,
            text: "moved or deleted, at \(TimeText.local(time)) or later",
            json: #""settles":"2027-01-15T08:00:00.000Z""#),
    ]

    /// The statement that an explanation must make about the end of a wait.
    enum Rule: Sendable {
        /// The time of the end.
        case time
        /// The thing that is waited for, because the time of its arrival is unknown.
        case name
        /// No statement, because the job does not wait.
        case nothing
    }

    /// Returns the rule of a reason. Each new reason needs its own.
    private static func rule(_ reason: JobExplanation.Reason) -> Rule {
        switch reason {
        case .retry, .host, .disk, .schedule: .time
        case .failed(_, _, _, let again): again == nil ? .nothing : .time
        case .network, .needs, .slot, .worker, .paused, .stopped: .name
        case .running, .taken, .done, .skipped, .cancelled: .nothing
        }
    }

    @Test(arguments: waits.filter { $0.settles == nil }) func aWaitOfTheTableHasATime(_ wait: Wait) {
        #expect(Self.rule(wait.reason) == .time)
    }

    /// The name stands in the place of a time for a required link, another job, and a person.
    @Test(
        arguments: [
            (JobExplanation.Reason.network("wwan0 no carrier"), "wwan0 no carrier"),
            (.needs([.init(job: "first", state: .queued)]), "first"), (.slot(active: 3), "3 transfers under way"),
            (.paused, "paused"), (.stopped, "no process runs"),
        ] as [(JobExplanation.Reason, String)])
    func aWaitWithoutATimeNamesWhatItIsFor(_ reason: JobExplanation.Reason, _ name: String) {
        #expect(Self.rule(reason) == .name)
        let explanation = JobExplanation(batch: "b", job: "a", state: .waiting, isUpload: true, reason: reason)
        let text = WhyText.lines(explanation, charset: .utf8).joined(separator: "\n")
        #expect(text.contains(name), "\(text)")
    }

    @Test(arguments: waits) func whyHasTheTime(_ wait: Wait) {
        var explanation = JobExplanation(
            batch: "b", job: "a", state: wait.state, isUpload: true, reason: wait.reason)
        explanation.settles = wait.settles
        let text = WhyText.lines(explanation, charset: .utf8).joined(separator: "\n")
        let json = WhyText.json(explanation)
        #expect(text.contains(wait.text), "\(text)")
        #expect(json.contains(wait.json), "\(json)")
    }

    @Test func whyHasTheTimesOfHooks() {
        let explanation = JobExplanation(
            batch: "b", job: "a", state: .done, isUpload: true, reason: .done(path: "/in/a"))
        let trouble = HookTrouble(job: "a", hook: "tell", attempts: 3, message: "no", again: Self.time)
        #expect(
            WhyText.json(explanation, troubles: [trouble]).contains(
                #""hooks":[{"id":"a","hook":"tell","attempts":3,"message":"no","again":"2027-01-15T08:00:00.000Z"}]"#))
        #expect(HookText.line(trouble).contains("again at \(TimeText.local(Self.time))"))
    }

    @Test func anExplanationOfAServiceHasTheTimeToo() throws {
        var explanation = JobExplanation(
            batch: "b", job: "a", state: .done, isUpload: true, reason: .done(path: "/in/a"))
        explanation.settles = Self.time
        #expect(ExplanationRecord(explanation).explanation?.settles == Self.time)
    }

    private func status(_ change: (inout BatchStatusRow) -> Void) -> (text: String, json: String) {
        var row = BatchStatusRow(
            name: "b", state: "running", done: 0, total: 2, failed: 0, waiting: 2, pid: 7, remaining: 2)
        change(&row)
        return (
            StatusTable.lines([row], charset: .utf8).joined(separator: "\n"),
            StatusTable.json([row]).joined(separator: "\n")
        )
    }

    @Test func statusHasTheTimeOfTheNextAttempt() {
        let status = status { $0.nextAttempt = Self.time }
        #expect(status.text.contains("b: the next attempt is at \(TimeText.local(Self.time))"))
        #expect(status.json.contains(#""nextAttempt":"2027-01-15T08:00:00.000Z""#))
    }

    @Test func statusHasTheTimeOfTheMoveThatWaits() {
        let status = status { row in
            var folder = FolderStatus(path: "/in", url: "https://a.example/")
            (folder.unsettled, folder.unsettledNext) = (1, Self.time)
            row.folder = folder
        }
        #expect(status.text.contains("to be moved or deleted, the next from \(TimeText.local(Self.time)) on"))
        #expect(status.json.contains(#""unsettledNext":"2027-01-15T08:00:00.000Z""#))
    }

    @Test func statusHasTheTimesOfHooks() {
        let status = status {
            $0.hooks = [HookTrouble(job: nil, hook: "tell", attempts: 3, message: "no", again: Self.time)]
        }
        #expect(status.json.contains(#""again":"2027-01-15T08:00:00.000Z""#))
    }

    /// A running batch has the time; in other batches no job is tried again.
    @Test(arguments: [Int32?.some(7), nil]) func onlyABatchThatRunsHasANextAttempt(_ pid: Int32?) {
        var status = BatchStatus(name: "b", source: nil)
        (status.total, status.remaining, status.waiting, status.pid) = (1, 1, 1, pid)
        status.nextAttempt = Self.time
        #expect((StatusText.row(status, hint: CommandHint()).nextAttempt != nil) == (pid != nil))
    }
}
