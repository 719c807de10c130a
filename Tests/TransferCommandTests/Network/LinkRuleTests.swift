import Foundation
import Glibc
import Testing
import TransferTestSupport

/// `network` rules of job files on the real kernel.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct LinkRuleTests {
    /// Prepares a server by name, an ordinary link that the kernel prefers, and a tunnel.
    private func withTunnel(_ body: (NetworkStage, TestNameServer, String) async throws -> Void) async throws {
        try await NetworkStage.with(limitRate: "4m") { stage in
            try await stage.network.connectTunnel("tun0", 9, metric: 500)
            let names = try await stage.network.startNameServer()
            names.set("files.test", [TestNetwork.server])
            try await body(stage, names, stage.serve("large", mebibytes: 8))
        }
    }

    private func job(_ stage: NetworkStage, _ sum: String, _ network: String) -> String {
        download(
            stage.url("/large", at: "files.test"), to: "large",
            #""id": "large", "checksum": "sha256:\#(sum)", "network": \#(network)"#)
    }

    @Test func sendsNotOnePacketOverAnotherLinkThanTheRequiredOne() async throws {
        try await withTunnel { stage, names, sum in
            try stage.place.jobs([job(stage, sum, #"{"require": "tun0"}"#)])
            let result = try await stage.startJobs().result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await stage.client.traffic("eth0").sentPackets == 0)
            #expect(!names.queries.isEmpty && names.queries.allSatisfy { $0.source == "10.0.9.2" }, "\(names.queries)")
            let requests = try stage.server.accessLog()
            #expect(Set(requests.map(\.remoteAddress)) == ["10.0.9.2"], "\(requests), \(result)")
        }
    }

    /// The required link is away, and a second link with a default route is not used either.
    @Test func takesNoOtherLinkWhileTheRequiredOneIsAway() async throws {
        try await withTunnel { stage, names, sum in
            let capture = try await stage.client.capture("eth0")
            try stage.place.jobs([job(stage, sum, #"{"require": "tun0"}"#)])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            try await stage.client.ip("link set tun0 down")
            try await process.waiting(for: "network")
            try await stage.client.ip("link set tun0 up", "route add default dev tun0 metric 500")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            // The kernel itself answers packets that the server still sends to the closed connection.
            let leaked = capture.sent().filter { $0.type != 0x0806 && !$0.isReset }
            #expect(leaked.isEmpty, "\(leaked)")
            #expect(!names.queries.isEmpty && names.queries.allSatisfy { $0.source == "10.0.9.2" }, "\(names.queries)")
            #expect(try stage.server.accessLog().allSatisfy { $0.remoteAddress == "10.0.9.2" })
        }
    }

    /// Without the rule the other link is used, so the tests above show the effect of the rule.
    @Test func takesTheKernelsWayWithoutARule() async throws {
        try await withTunnel { stage, names, sum in
            let capture = try await stage.client.capture("eth0")
            try stage.place.jobs([job(stage, sum, "{}")])
            let result = try await stage.startJobs().result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(capture.sent().contains { $0.type == 0x0800 && !$0.isReset })
            #expect(try await stage.client.traffic("eth0").receivedBytes > 8 << 20)
            #expect(try await stage.client.traffic("tun0").receivedPackets == 0)
            #expect(names.queries.allSatisfy { $0.source == "10.0.0.2" })
        }
    }

    @Test func waitsForARequiredLinkThatIsNotThere() async throws {
        try await NetworkStage.with { stage in
            let sum = try await stage.serve("large", mebibytes: 1)
            try stage.place.jobs([
                download(
                    stage.url("/large"), to: "large",
                    #""id": "large", "checksum": "sha256:\#(sum)", "network": {"require": "tun0"}"#)
            ])
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            try await stage.network.connectTunnel("tun0", 9, metric: 500)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            #expect(try await stage.client.traffic("eth0").sentPackets == 0)
            let requests = try stage.server.accessLog()
            #expect(Set(requests.map(\.remoteAddress)) == ["10.0.9.2"], "\(requests), \(result)")
        }
    }

    @Test func newWorkTakesThePreferredLinkWhenItAppears() async throws {
        try await NetworkStage.with(limitRate: "1m") { stage in
            _ = try await stage.serve("large", mebibytes: 3)
            _ = try await stage.serve("small", mebibytes: 1)
            let rule = #""network": {"prefer": ["lan*"]}"#
            try stage.place.jobs([
                download(stage.url("/large"), to: "large", #""id": "large", \#(rule)"#),
                download(stage.url("/small"), to: "small", #""id": "small", "needs": ["large"], \#(rule)"#),
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 1 << 20)
            try await stage.network.connect("lan0", 1, metric: 900)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            let log = try await stage.logged(2)
            #expect(log.filter { $0.uri == "/small" }.map(\.remoteAddress) == ["10.0.1.2"], "\(log)")
        }
    }

    /// Runs a job of this rule with only a metered link: it waits, before any packet has left. After `body` all jobs
    /// have ended well, and no attempt was spent.
    private func withOnlyAMeteredLink(
        _ rule: String, more: (NetworkStage) -> [String] = { _ in [] }, _ body: (NetworkStage) async throws -> Void
    ) async throws -> [AccessLogEntry] {
        var log: [AccessLogEntry] = []
        try await NetworkStage.with(isConnected: false) { stage in
            try await stage.network.connect("wwan0", 0)
            let sum = try await stage.serve("file", mebibytes: 1)
            let file = download(
                stage.url("/file"), to: "file",
                #""id": "file", "checksum": "sha256:\#(sum)", "network": \#(rule)"#)
            let others = more(stage)
            try stage.place.jobs([file] + others)
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            #expect(try await stage.client.traffic("wwan0").sentPackets == 0)
            try await body(stage)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            log = try await stage.logged(1 + others.count)
        }
        return log
    }

    @Test func waitsWithOnlyAMeteredLinkAndContinuesOverAnother() async throws {
        let log = try await withOnlyAMeteredLink(#"{"metered": "forbid"}"#) {
            [download($0.url("/file?any"), to: "any", #""id": "any", "needs": ["file"]"#)]
        } _: {
            try await $0.network.connect("eth1", 1, metric: 900)
        }
        #expect(log.filter { $0.uri == "/file" }.map(\.remoteAddress) == ["10.0.1.2"], "\(log)")
        // The job without the restriction takes the kernel's route, which is the metered one.
        #expect(log.filter { $0.uri == "/file?any" }.map(\.remoteAddress) == ["10.0.0.2"], "\(log)")
    }

    /// The wait for a better link ends after the time that the job sets.
    @Test func takesTheMeteredLinkWhenItHasWaitedLongEnough() async throws {
        let log = try await withOnlyAMeteredLink(#"{"metered": "avoid", "meteredAfter": "1s"}"#) { _ in }
        #expect(log.map(\.remoteAddress) == ["10.0.0.2"])
    }

    /// A job that becomes ready in the middle of a run obeys its rules, and is not tried again and again.
    @Test func waitsOnceWhenItsNeedIsCompleteAndItsLinkIsMissing() async throws {
        try await NetworkStage.with(isConnected: false) { stage in
            try await stage.network.connect("wwan0", 0)
            _ = try await stage.serve("file", mebibytes: 1)
            try stage.place.jobs([
                download(stage.url("/file?any"), to: "any", #""id": "any""#),
                download(
                    stage.url("/file"), to: "file",
                    #""id": "file", "needs": ["any"], "network": {"metered": "forbid"}"#),
            ])
            let process = try stage.startJobs()
            try await process.event("job.finished", id: "any")
            try await process.waiting(for: "network")
            try await stage.network.connect("eth1", 1, metric: 900)
            let result = try await process.result()
            #expect(result.exitCode == 0)
            try expectOneWait(result)
            let log = try await stage.logged(2)
            #expect(log.filter { $0.uri == "/file" }.map(\.remoteAddress) == ["10.0.1.2"], "\(log)")
        }
    }

    @Test func waitsOutsideItsScheduleWhileOthersRun() async throws {
        try await NetworkStage.with { stage in
            _ = try await stage.serve("file", mebibytes: 1)
            // The command's clock is UTC here. The window is two hours later: no test takes so long.
            let hour = (Int(Date().timeIntervalSince1970) / 3600 + 2) % 24
            let closed = String(format: "%02d:00-%02d:00", hour, (hour + 1) % 24)
            let open = String(format: "%02d:00-%02d:00", (hour + 21) % 24, (hour + 1) % 24)
            try stage.place.jobs([
                download(stage.url("/file?closed"), to: "c", #""id": "closed", "network": {"schedule": "\#(closed)"}"#),
                download(stage.url("/file?open"), to: "o", #""id": "open", "network": {"schedule": "\#(open)"}"#),
            ])
            let process = try stage.startJobs()
            try await process.event("job.finished", id: "open")
            try await process.waiting(for: "schedule")
            process.kill(SIGTERM)
            _ = try await process.result()
            #expect(try stage.server.accessLog().map(\.uri) == ["/file?open"])
        }
    }

    /// The window ends at a full minute, so the test takes a minute at most.
    @Test(.enabled(if: TransferCommand.runsHeavyTests)) func checkpointsWhenItsScheduleEnds() async throws {
        try await NetworkStage.with(limitRate: "256k") { stage in
            _ = try await stage.serve("large", mebibytes: 64)
            // The time is the end of a minute that has at least five seconds left.
            let end = Int(Date().timeIntervalSince1970 + 5) / 60 + 1
            let window = [end - 120, end].map { String(format: "%02d:%02d", $0 / 60 % 24, $0 % 60) }
            try stage.place.jobs([
                download(
                    stage.url("/large"), to: "large",
                    #""id": "large", "network": {"schedule": "\#(window.joined(separator: "-"))"}"#)
            ])
            var command = stage.command("run", "jobs.json", "--json=progress")
            command.timeout = .seconds(100)
            let process = try command.start()
            try await process.progress("large", atLeast: 1)
            try await process.waiting(for: "schedule")
            let kept = try #require(stage.place.folder.size("large.part"))
            #expect(kept > 0)
            process.kill(SIGTERM)
            _ = try await process.result()
            try await stage.logged(1)
        }
    }
}
