import Foundation
import Glibc
import Testing
import TransferTestSupport

/// `network` rules of watched folders on the real kernel.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct WatchedFolderRuleTests {
    /// A rule, a forbidden link, and an allowed one.
    struct Rule: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var network: String
        var refused: String
        var allowed: String
        /// The report about the rule: the file's reason to wait, the verdict on the refused link, and the condition of
        /// the start.
        var reason: String
        var verdict: String
        var starts: String
    }

    static let rules = [
        Rule(
            testDescription: "no metered link", network: #"{"metered": "forbid"}"#, refused: "wwan0", allowed: "eth1",
            reason: "only metered links are up", verdict: "up, metered: refused by the rule",
            starts: "when an unmetered link appears"),
        Rule(
            testDescription: "a required interface", network: #"{"require": "lan0"}"#, refused: "eth0", allowed: "lan0",
            reason: "there is no link lan0, which it requires", verdict: "up, not the required lan0",
            starts: "when lan0 appears"),
        Rule(
            testDescription: "allowed interfaces", network: #"{"allow": ["lan*"]}"#, refused: "eth0", allowed: "lan0",
            reason: "no link that it is allowed to use is up", verdict: "up: not allowed by the rule",
            starts: "when an allowed link appears"),
    ]

    @Test(arguments: rules, [false, true])
    func aFileWaitsForAnAllowedLinkAndContinuesAutomatically(_ rule: Rule, _ isThereAtTheStart: Bool) async throws {
        try await withWatch(of: [("out", rule.network)], over: rule.refused) { stage in
            if isThereAtTheStart { try stage.place.folder.write("x", to: "out/a") }
            let process = try stage.startWatch()
            try await process.event("watch.caughtUp")
            if !isThereAtTheStart { try stage.place.folder.write("x", to: "out/a") }
            let wait = try await process.waiting(for: "network")
            #expect(wait["reason"]?.string == rule.reason)
            #expect(wait["batch"]?.string == "watch:" + stage.place.folder.path("out"))
            let why = try await stage.why("a", in: "out")
            #expect(why["for"]?.string == "network" && why["reason"]?.string == rule.reason, "\(why)")
            #expect(why["rules"]?[0]?["rule"]?.string?.hasPrefix("network.") == true, "\(why)")
            #expect(why["links"]?[0]?["name"]?.string == rule.refused, "\(why)")
            #expect(why["links"]?[0]?["verdict"]?.string == rule.verdict, "\(why)")
            #expect(why["starts"]?.string == rule.starts, "\(why)")
            #expect(try await stage.client.traffic(rule.refused).sentPackets == 0)

            try await stage.network.connect(rule.allowed, 1, metric: 900)
            try await process.confirmed("a")
            let result = try await stage.stop(process)
            try expectOneWait(result)
            #expect(try await stage.puts(1) == ["/out/a from 10.0.1.2"])
        }
    }

    /// The reports are those of `transfer status` and the log.
    @Test func aFolderWaitingForTheNetworkIsReportedInStatusAndOnceInTheLog() async throws {
        try await withWatch(of: [("out", #"{"metered": "forbid"}"#)], over: "wwan0") { stage in
            let process = try stage.startWatch()
            try await process.event("watch.caughtUp")
            try stage.place.folder.write("x", to: "out/a")
            let path = stage.place.folder.path("out")
            try await process.line { $0.hasSuffix("warn \(path): waiting: only metered links are up") }
            try await until("the status to say so") {
                try await stage.place.status("watch:" + path).first?["waitingFor"]?.string
                    == "only metered links are up"
            }
            try await stage.network.connect("eth1", 1, metric: 900)
            try await process.confirmed("a")
            let result = try await stage.stop(process)
            let words = result.standardError.components(separatedBy: "waiting: only metered links are up").count - 1
            #expect(words == 1, "\(result)")
        }
    }

    /// The wait for a better link ends after the time that the entry sets.
    @Test func aFileTakesTheMeteredLinkWhenItHasWaitedLongEnough() async throws {
        let rule = #"{"metered": "avoid", "meteredAfter": "1s"}"#
        try await withWatch(of: [("out", rule)], over: "wwan0") { stage in
            let process = try stage.startWatch()
            try await process.event("watch.caughtUp")
            try stage.place.folder.write("x", to: "out/a")
            try await process.waiting(for: "network")
            #expect(try await stage.client.traffic("wwan0").sentPackets == 0)
            try await process.confirmed("a")
            let result = try await stage.stop(process)
            try expectOneWait(result)
            #expect(try await stage.puts(1) == ["/out/a from 10.0.0.2"])
        }
    }

    /// The network changes while no file waits for it.
    @Test func aNewFileWaitsUntilTheAllowedLinkIsBack() async throws {
        try await withWatch(of: [("out", #"{"metered": "forbid"}"#)], over: "eth0") { stage in
            try await stage.network.connect("wwan0", 1, metric: 900)
            let process = try stage.startWatch()
            try stage.place.folder.write("x", to: "out/a")
            try await process.confirmed("a")
            try await stage.client.ip("link set eth0 down")
            try stage.place.folder.write("y", to: "out/b")
            try await process.waiting(for: "network")
            #expect(try await stage.client.traffic("wwan0").sentPackets == 0)
            try await stage.client.ip(Self.eth0IsBack)
            try await process.confirmed("b")
            let result = try await stage.stop(process)
            try expectOneWait(result)
            #expect(try await stage.client.traffic("wwan0").sentPackets == 0)
            #expect(try await stage.puts(2) == ["/out/a from 10.0.0.2", "/out/b from 10.0.0.2"])
        }
    }

    @Test func anUploadOfALostLinkAvoidsForbiddenLinksAndArrivesOnce() async throws {
        try await withWatch(of: [("out", #"{"metered": "forbid"}"#)], over: "eth0") { stage in
            try await stage.network.connect("wwan0", 1, metric: 900)
            // The rate is 2 MiB/s, and the file is long enough for a change that comes late on a busy machine.
            try await stage.client.run("tc qdisc add dev eth0 root tbf rate 16mbit burst 64kb latency 100ms")
            let sum = try await stage.random(stage.place.folder.path("out/f"), kibibytes: 8 << 10)
            let process = try stage.startWatch()
            let start = try await process.event("job.progress") { ($0["completed"]?.int ?? 0) >= 1 << 20 }
            #expect(start["id"]?.string == "f@1")
            try await stage.client.ip("link set eth0 down")
            let wait = try await process.event("batch.waiting") { $0["for"]?.string == "network" }
            #expect(wait["reason"]?.string == "only metered links are up" && wait["transfers"]?.int == 1)
            #expect(try await stage.client.traffic("wwan0").sentPackets == 0)
            try await stage.client.ip(Self.eth0IsBack)
            try await process.confirmed("f")
            let result = try await stage.stop(process)
            try expectOneWait(result, changes: 2)
            #expect(try await stage.client.traffic("wwan0").sentPackets == 0)
            #expect(try await stage.peer.run("sha256sum '\(stage.server.root)/out/f'").hasPrefix(sum))
            #expect(try await stage.puts(1) == ["/out/f from 10.0.0.2"])
        }
    }

    /// A reloaded job file may remove the rule that a file waits for.
    @Test func aHangUpAppliesTheNewRuleToWaitingFiles() async throws {
        try await withWatch(of: [("out", #"{"metered": "forbid"}"#)], over: "wwan0") { stage in
            let process = try stage.startWatch()
            try await process.event("watch.caughtUp")
            try stage.place.folder.write("x", to: "out/a")
            try await process.waiting(for: "network")
            try stage.writeWatch([("out", #"{"metered": "allow"}"#)])
            process.kill(SIGHUP)
            try await process.line { $0.hasSuffix("read again: 1 folder changed, 0 jobs") }
            try await process.confirmed("a")
            let result = try await stage.stop(process)
            try expectNoAttemptSpent(result)
            #expect(try await stage.puts(1) == ["/out/a from 10.0.0.2"])
        }
    }

    @Test func aFileWaitsOutsideItsScheduleWhileAnotherFolderUploads() async throws {
        // The command's clock is UTC here. The window is two hours later: no test takes so long.
        let hour = (Int(Date().timeIntervalSince1970) / 3600 + 2) % 24
        // An hour that ends with the day ends at 24:00.
        let closed = String(format: "%02d:00-%02d:00", hour, hour + 1)
        let open = String(format: "%02d:00-%02d:00", (hour + 21) % 24, (hour + 1) % 24)
        let folders: [(name: String, network: String)] = [
            ("later", #"{"schedule": "\#(closed)"}"#), ("now", #"{"schedule": "\#(open)"}"#),
        ]
        try await withWatch(of: folders, over: "eth0") { stage in
            let process = try stage.startWatch()
            for name in ["later", "now"] {
                let path = stage.place.folder.path(name)
                try await process.event("watch.found") { $0["folder"]?.string == path }
            }
            try stage.place.folder.write("x", to: "later/a")
            try await process.waiting(for: "schedule")
            let why = try await stage.why("a", in: "later")
            #expect(why["for"]?.string == "schedule", "\(why)")
            #expect(why["rules"]?[0]?["rule"]?.string == #"network.schedule = "\#(closed)""#, "\(why)")
            #expect(why["starts"]?.string?.hasSuffix(closed.prefix(5)) == true, "\(why)")
            try stage.place.folder.write("y", to: "now/b")
            try await process.confirmed("b")
            let result = try await stage.stop(process)
            try expectOneWait(result)
            let left = "stopped, 0 uploaded, 1 file left, which the next start continues\n"
            #expect(result.standardError.contains("\(stage.place.folder.path("later")): \(left)"), "\(result)")
            #expect(try await stage.puts(1) == ["/now/b from 10.0.0.2"])
        }
    }

    /// The window begins at a full minute, so the test takes a minute at most.
    @Test(.enabled(if: TransferCommand.runsHeavyTests)) func aFileIsUploadedWhenItsScheduleOpens() async throws {
        // The time is the start of a minute that is at least five seconds away.
        let opening = Int(Date().timeIntervalSince1970 + 5) / 60 + 1
        let window = [opening, opening + 120].map { String(format: "%02d:%02d", $0 / 60 % 24, $0 % 60) }
        let rule = #"{"schedule": "\#(window.joined(separator: "-"))"}"#
        try await withWatch(of: [("out", rule)], over: "eth0") { stage in
            let process = try stage.startWatch(.seconds(100))
            try await process.event("watch.caughtUp")
            try stage.place.folder.write("x", to: "out/a")
            try await process.waiting(for: "schedule")
            try await process.confirmed("a")
            #expect(Int(Date().timeIntervalSince1970) >= opening * 60)
            let result = try await stage.stop(process)
            try expectOneWait(result)
        }
    }

    private static let eth0IsBack = ["link set eth0 up", "route add default via 10.0.0.1 dev eth0 metric 100"]

    /// Prepares a server that accepts files, one link to it, and folders to watch by these rules.
    private func withWatch(
        of folders: [(name: String, network: String)], over link: String, _ body: (NetworkStage) async throws -> Void
    ) async throws {
        try await NetworkStage.with(isConnected: false, configure: { $0.allowsWriting = true }) { stage in
            try await stage.network.connect(link, 0)
            for folder in folders { try stage.place.folder.folder(folder.name) }
            try stage.writeWatch(folders)
            try await body(stage)
        }
    }
}

extension NetworkStage {
    /// Writes `watch.json`: the files of each folder go to the server's folder of that name.
    fileprivate func writeWatch(_ folders: [(name: String, network: String)]) throws {
        let entries = folders.map { name, network in
            let target = url("/\(name)/")
            return #"{"folder": "\#(name)", "to": "\#(target)", "settle": "50ms", "network": \#(network)}"#
        }
        let list = entries.joined(separator: ",\n  ")
        try place.folder.write(
            #"{"version": 1, "name": "svc", "watch": [\#n  \#(list)\#n]}\#n"#, to: "watch.json")
    }

    fileprivate func startWatch(_ timeout: Duration = .seconds(40)) throws -> ChildProcess {
        var command = command("run", "watch.json", "--json=progress")
        command.timeout = timeout
        return try command.start()
    }

    /// Stops the process, and expects a normal end.
    fileprivate func stop(_ process: ChildProcess) async throws -> ProcessResult {
        process.kill(SIGTERM)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        return result
    }

    /// Returns the output of `transfer why` about the job for the first file that was found.
    fileprivate func why(_ file: String, in folder: String) async throws -> JSONValue {
        let result = try await command("why", "watch:\(place.folder.path(folder))/\(file)@1", "--json").run()
        #expect(result.exitCode == 0, "\(result)")
        return try JSONValue.parse(Data(result.standardOutput.utf8))
    }

    /// Waits for this number of completely received files, and returns them with the addresses of their clients.
    fileprivate func puts(_ count: Int) async throws -> [String] {
        try await logged(count) { $0.method == "PUT" && $0.status < 300 }.map { "\($0.uri) from \($0.remoteAddress)" }
    }
}
