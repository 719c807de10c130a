import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Temporary outages of the network, which are a state of the job, and no failure.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct OutageTests {
    /// An outage of the network: commands for the client's links, then for the peer's.
    struct Outage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var client: (gone: [String], back: [String])
        var peer: (gone: [String], back: [String])
        /// The duration after the command has noticed the outage.
        var time: Duration = .zero
    }

    static let linkDown = Outage(
        testDescription: "link down",
        client: (["link set eth0 down"], ["link set eth0 up", "route add default via 10.0.0.1 metric 100"]),
        peer: ([], []))
    static let carrierLost = Outage(
        testDescription: "carrier lost", client: ([], []), peer: (["link set eth0 down"], ["link set eth0 up"]))
    static let routeGone = Outage(
        testDescription: "default route gone",
        client: (["route del default"], ["route add default via 10.0.0.1 metric 100"]), peer: ([], []))
    static let outages =
        [linkDown, carrierLost, routeGone]
        + (TransferCommand.runsHeavyTests ? [linkDown, carrierLost].map { $0.lasting(.seconds(8)) } : [])

    /// The address is the same before and after.
    @Test(arguments: outages) func waitsAndContinuesWhenTheNetworkIsBack(_ outage: Outage) async throws {
        try await NetworkStage.with(limitRate: "2m") { stage in
            let sum = try await stage.serve("large", mebibytes: 12)
            try stage.place.jobs([
                download(stage.url("/large"), to: "large", #""id": "large", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            try await stage.client.ip(outage.client.gone)
            try await stage.peer.ip(outage.peer.gone)
            let gone = ContinuousClock.now
            try await process.waiting(for: "network")
            printMeasured("waits for the network after \(outage.testDescription)", since: gone)
            // The length of the outage is the subject of the test; only the clock marks its end.
            if outage.time > .zero { try await Task.sleep(until: gone + outage.time) }
            try await stage.peer.ip(outage.peer.back)
            try await stage.client.ip(outage.client.back)
            let back = ContinuousClock.now
            let result = try await process.result()
            printMeasured("finished after \(outage.testDescription) was over", since: back)
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            // At most ten of the twelve MiB were left, two of which are sent at once.
            #expect(ContinuousClock.now - back < .seconds(10))
            // Only what arrived counts: at the outage the server has a buffer full of sent bytes for each connection.
            let arrived = try await stage.bytesArrived()
            let bound: Int64 = (12 << 20) * 105 / 100 + (1 << 20)
            let log = try server(stage)
            #expect(arrived <= bound, "\(log)")
        }
    }

    private func server(_ stage: NetworkStage) throws -> [AccessLogEntry] {
        try stage.server.accessLog().filter { $0.status < 300 }
    }

    @Test func startsWhenANetworkAppears() async throws {
        try await NetworkStage.with(isConnected: false) { stage in
            let sum = try await stage.serve("file", mebibytes: 1)
            try stage.place.jobs([
                download(stage.url("/file"), to: "file", #""id": "file", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            #expect(process.isRunning)
            try await stage.network.connect("eth0", 0)
            let routed = ContinuousClock.now
            try await process.event("job.started", id: "file")
            printMeasured("started after a network appeared", since: routed)
            #expect(ContinuousClock.now - routed < .seconds(5))
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            #expect(try stage.server.accessLog().count == 1)
        }
    }

    /// A hundred jobs wait as one: none is tried, none fails.
    @Test func nothingIsTriedWhileThereIsNoNetwork() async throws {
        try await NetworkStage.with(isConnected: false) { stage in
            _ = try await stage.serve("file", mebibytes: 1)
            try stage.place.jobs((0..<100).map { download(stage.url("/file?\($0)"), to: "f\($0)") })
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(result.signal == SIGTERM, "\(result)")
            let events = try result.events()
            #expect(events.named("job.started").isEmpty && events.named("job.retrying").isEmpty && events.ends.isEmpty)
            // A job that waited for the network still waits in the next run, which begins as offline as this one ended.
            try await stage.network.connect("eth0", 0)
            let next = try await stage.startJobs().result()
            #expect(next.exitCode == 0, "\(next)")
            try expectNoAttemptSpent(next)
        }
    }

    @Test func stopsAtOnceDuringAWait() async throws {
        try await NetworkStage.with { stage in
            _ = try await stage.serve("file", mebibytes: 1)
            try stage.place.jobs([download(stage.url("/file"), to: "file")])
            try await stage.client.ip("link set eth0 down")
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            let reported = ContinuousClock.now
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(result.signal == SIGTERM && ContinuousClock.now - reported < .seconds(2), "\(result)")
        }
    }

    @Test func continuesWhenDeadNameServersAnswerAgain() async throws {
        try await NetworkStage.with { stage in
            let names = try await stage.network.startNameServer()
            names.set("files.test", [TestNetwork.server])
            names.answers = false
            let sum = try await stage.serve("file", mebibytes: 1)
            try stage.place.jobs([
                download(
                    stage.url("/file", at: "files.test"), to: "file", #""id": "file", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await until("a name server to be asked") { !names.queries.isEmpty }
            // The command reports a retry or a wait while the cause is unknown.
            try await process.line(.standardOutput) { $0.contains("\"job.retrying\"") || $0.contains(".waiting\"") }
            names.answers = true
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }

    @Test func endsInTimeWhileNameServersAreDead() async throws {
        try await NetworkStage.with { stage in
            let names = try await stage.network.startNameServer()
            names.answers = false
            try stage.place.jobs((0..<20).map { download(stage.url("/", at: "files\($0).test"), to: "f\($0)") })
            let process = try stage.startJobs()
            try await until("a name server to be asked") { !names.queries.isEmpty }
            let reported = ContinuousClock.now
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(result.signal == SIGTERM && ContinuousClock.now - reported < .seconds(3), "\(result)")
        }
    }
}

extension OutageTests.Outage {
    fileprivate func lasting(_ time: Duration) -> Self {
        var longer = Self(testDescription: "\(testDescription) for \(time)", client: client, peer: peer)
        longer.time = time
        return longer
    }
}
