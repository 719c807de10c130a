import Testing
import TransferCore

@testable import TransferJobs
@testable import TransferStore
@testable import transfer

@Suite struct WhyTextTests {
    private static func explanation(
        _ reason: JobExplanation.Reason, _ state: JobState = .queued, job: String = "rec-0412.mp4"
    ) -> JobExplanation {
        JobExplanation(batch: "field-cam", job: job, state: state, isUpload: false, reason: reason)
    }

    @Test func looksAsIntended() {
        var explanation = Self.explanation(.network("only metered links are up"))
        explanation.waited = .milliseconds(363_900)
        explanation.held = .init(bytes: Int64(1.2 * gibibyte), total: Int64(3.4 * gibibyte), path: "/srv/rec.part")
        explanation.rules = [.init(text: #"network.metered = "forbid""#, place: "/etc/field.json:9:18")]
        explanation.links = [
            .init(name: "eth0", verdict: "has a route, but 3 connections got no answer since 14:02"),
            .init(name: "wwan0", verdict: "up, metered: refused by the rule"),
            .init(name: "wg0", verdict: "up, runs over wwan0, so metered: refused by the rule"),
        ]
        explanation.attempts = 1
        explanation.starts = "when eth0 answers or an unmetered link appears"
        #expect(
            WhyText.lines(explanation, charset: .utf8).joined(separator: "\n") == """
                field-cam/rec-0412.mp4: waiting for the network, 6m 03s
                  held      1.20 of 3.40 GiB, in /srv/rec.part
                  rule      network.metered = "forbid"         field.json:9:18
                  eth0      has a route, but 3 connections got no answer since 14:02
                  wwan0     up, metered: refused by the rule
                  wg0       up, runs over wwan0, so metered: refused by the rule
                  attempts  1 of 11 used, none by this wait
                  starts    when eth0 answers or an unmetered link appears
                """)
        let json = WhyText.json(explanation)
        #expect(json.contains(#""for":"network","reason":"only metered links are up","waited":363.9"#))
        #expect(json.contains(#""rules":[{"rule":"network.metered = \"forbid\"","place":"/etc/field.json:9:18"}]"#))
    }

    @Test func aTransferUnderWayWaitsForNothing() {
        var explanation = Self.explanation(.running(active: 3), .claimed)
        explanation.pid = 4121
        #expect(
            WhyText.lines(explanation, charset: .utf8).prefix(2) == [
                "field-cam/rec-0412.mp4: under way, by process 4121", "  others    2 transfers under way",
            ])
        let json = WhyText.json(explanation)
        #expect(!json.contains(#""for""#) && json.contains(#""active":3"#))
    }

    @Test func commandsNameTheStateAndTheShortName() {
        let hint = CommandHint(state: "st")
        func last(_ reason: JobExplanation.Reason, _ state: JobState, again: String? = nil) -> String? {
            WhyText.lines(
                Self.explanation(reason, state, job: "x"), charset: .utf8, batch: "cam", again: again, hint: hint
            ).last
        }
        #expect(last(.paused, .paused) == "  starts    with: transfer resume cam/x --state st")
        #expect(last(.cancelled, .cancelled) == "  starts    again with: transfer retry cam/x --state st")
        let again = "transfer run /etc/field.json -d /srv --state st"
        #expect(last(.stopped, .queued, again: again) == "  starts    with: \(again)")
    }

    @Test func theReceivedPartOfAnUploadIsReported() {
        var explanation = Self.explanation(.retry(remaining: .seconds(7)), .waiting)
        explanation.sent = .init(
            bytes: Int64(1.2 * gibibyte), total: Int64(3.4 * gibibyte), uploadProtocol: "tus")
        #expect(
            WhyText.lines(explanation, charset: .utf8).contains(
                "  sent      1.20 of 3.40 GiB, held by the server (tus)"))
        #expect(
            WhyText.json(explanation).contains(#""sent":[{"bytes":1288490188,"total":3650722201,"protocol":"tus"}]"#))
    }

    /// A reason, the first line after the name, and the beginning of the last line.
    private static let reasons: [(JobExplanation.Reason, JobState, String, String)] = [
        (.network("offline"), .queued, "waiting for the network", "attempts"),
        (.schedule("outside its schedule, until 22:00"), .queued, "waiting for its schedule", "attempts"),
        (
            .host(origin: "https://cdn.example", status: 429, message: "m", remaining: .seconds(42)), .waiting,
            "waiting: cdn.example said 429, asks for 0:42", "attempts"
        ),
        (
            .host(origin: "https://cdn.example", status: nil, message: "connection refused", remaining: .seconds(8)),
            .queued, "waiting: cdn.example: connection refused, next try in 0:08", "attempts"
        ),
        (.retry(remaining: .milliseconds(7100)), .waiting, "waiting for its next attempt, in 0:08", "attempts"),
        (
            .needs([.init(job: "iso", state: .failed)]), .blocked, "waiting for iso, which is failed",
            "starts    when iso is complete"
        ),
        (
            .needs([.init(job: "a", state: .queued), .init(job: "b", state: .claimed)]), .blocked, "waiting for 2 jobs",
            "starts    when all of them are complete"
        ),
        (.slot(active: 32), .queued, "waiting for a slot, 32 transfers under way", "attempts"),
        (.paused, .paused, "paused", "starts    with: transfer resume field-cam/rec-0412.mp4"),
        (.stopped, .queued, "not running: no process runs the batch", "starts    with: transfer run /etc/f.json"),
        (.done(path: "/srv/rec"), .done, "complete", "file      /srv/rec"),
        (
            .failed(code: "httpStatus", message: "404 Not Found", host: "a.example", again: nil), .failed,
            "failed: 404 Not Found", "starts    again with: transfer retry field-cam/rec-0412.mp4"
        ),
        (
            .failed(code: "httpStatus", message: "403 Forbidden", host: "a.example", again: .seconds(60)), .failed,
            "failed: 403 Forbidden, tried again in 1:00 at the latest",
            "starts    again with: transfer retry field-cam/rec-0412.mp4"
        ),
        (
            .skipped("needs iso"), .skipped, "skipped: it needs iso, which did not complete",
            "starts    again with: transfer retry field-cam/rec-0412.mp4"
        ),
    ]

    @Test(arguments: reasons.indices) func eachReasonHasItsWords(_ index: Int) {
        let (reason, state, headline, last) = Self.reasons[index]
        var explanation = Self.explanation(reason, state)
        explanation.source = "/etc/f.json"
        let lines = WhyText.lines(explanation, charset: .utf8)
        #expect(lines.first == "field-cam/rec-0412.mp4: \(headline)")
        #expect(lines.last?.hasPrefix("  " + last) == true, "\(lines)")
    }

    @Test func aNameCannotMoveTheCursor() {
        let lines = WhyText.lines(Self.explanation(.paused, .paused, job: "a\u{1B}[2J\n"), charset: .utf8)
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\n") })
    }
}
