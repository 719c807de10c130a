import Foundation
import Testing
import TransferTestSupport

/// Links without a route, and links with a byte budget, on the real kernel.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct LinkUseTests {
    /// The kernel prefers eth0, which has a carrier and a route, and over which no answer comes back.
    @Test func aLinkWithoutARouteIsAvoidedForAnother() async throws {
        try await NetworkStage.with { stage in
            try await stage.network.connect("eth1", 1, metric: 900)
            try await stage.peer.ip("route add blackhole 10.0.0.2/32")
            let sum = try await stage.serve("file", mebibytes: 1)
            try stage.place.jobs(
                (0..<6).map { number in
                    download(
                        stage.url("/file?\(number)"), to: "f\(number)",
                        #""id": "\#(number)", "checksum": "sha256:\#(sum)", "connectTimeout": "1s", "#
                            + #""retry": {"scale": "0.1s"}"#)
                })
            let result = try await stage.startJobs().result()
            #expect(result.exitCode == 0, "\(result)")
            let log = try await stage.logged(6)
            #expect(log.count == 6 && log.allSatisfy { $0.remoteAddress == "10.0.1.2" }, "\(log)")
        }
    }

    @Test func aBudgetThatIsSpentEndsTheUseOfAMeteredLink() async throws {
        try await NetworkStage.with(isConnected: false, limitRate: "1m") { stage in
            try await stage.network.connect("wwan0", 0)
            let sum = try await stage.serve("file", mebibytes: 6)
            try stage.place.jobs([
                download(
                    stage.url("/file"), to: "file",
                    #""segments": 1, "id": "file", "checksum": "sha256:\#(sum)", "network": {"meteredBudget": "2M/day"}"#
                )
            ])
            let process = try stage.startJobs()
            try await process.waiting(for: "network", id: "file")
            let used = try await stage.client.traffic("wwan0").receivedBytes
            #expect(used > 2 << 20 && used < 5 << 20, "\(used) bytes")
            try await stage.network.connect("eth1", 1, metric: 900)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            let log = try await stage.logged(2)
            #expect(log.map(\.remoteAddress) == ["10.0.0.2", "10.0.1.2"], "\(log)")
        }
    }

    /// The network is that of a plant: a subnet with a name server, and no route out of it.
    @Test func hostsOnTheOwnSubnetNeedNoDefaultRoute() async throws {
        try await NetworkStage.with { stage in
            let names = try await stage.network.startNameServer()
            names.set("nas.plant", [TestNetwork.server])
            let sum = try await stage.serve("file", mebibytes: 1)
            try await stage.client.ip([
                "route del default", "route add \(TestNetwork.nameServer) via 10.0.0.1",
                "route add \(TestNetwork.server) via 10.0.0.1",
            ])
            let rest = #""checksum": "sha256:\#(sum)""#
            let proxy = #""proxy": "http://nas.plant:9""#
            try stage.place.jobs([
                download(stage.url("/file", at: "nas.plant"), to: "name", #""id": "name", \#(rest)"#),
                download(
                    stage.url("/file", at: "nas.plant"), to: "direct",
                    #""id": "direct", "proxy": "http://192.0.2.9:3128", "noProxy": "nas.plant", \#(rest)"#),
                download(stage.url("/file"), to: "address", #""id": "address", \#(rest)"#),
                // The proxy is on the subnet, the host is not: the proxy is tried, and no server listens there.
                download("http://away.example/x", to: "away", #""id": "away", "retry": {"limit": 0}, \#(proxy)"#),
                download("http://192.0.2.7/x", to: "never", #""id": "never""#),
            ])
            let process = try stage.startJobs()
            for id in ["name", "direct", "address"] { try await process.event("job.finished", id: id) }
            try await process.event("job.failed", id: "away")
            try await process.event("batch.waiting") { $0["for"]?.string == "network" }
            let why = try await stage.command("why", "batch/never").start().result()
            #expect(why.standardOutput.contains("waiting for the network, "), "\(why)")
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(try result.events().named("job.started").allSatisfy { $0["id"]?.string != "never" }, "\(result)")
            try expectNoAttemptSpent(result)
        }
    }

    /// The file is fetched from the reachable server, for each cause that keeps the first server from being reached.
    @Test func aNearMirrorIsUsedInPlaceOfAnUnreachableOne() async throws {
        try await NetworkStage.with { stage in
            let names = try await stage.network.startNameServer()
            names.set("nas.plant", [TestNetwork.server])
            names.set("far.example", ["192.0.2.7"])
            let sum = try await stage.serve("file", mebibytes: 1)
            try await stage.client.ip([
                "route del default", "route add \(TestNetwork.nameServer) via 10.0.0.1",
                "route add \(TestNetwork.server) via 10.0.0.1",
            ])
            let near = stage.url("/file", at: "nas.plant")
            let ways = [
                "address": ["http://192.0.2.7/file", stage.url("/file")], "name": ["http://far.example/file", near],
                "second": [near, "http://far.example/file"],
                // No server listens at the first URL.
                "third": [stage.url(":9/file"), "http://far.example/file", near],
            ]
            try stage.place.jobs(
                ways.map { id, urls in
                    #"{"download": ["\#(urls.joined(separator: #"", ""#))"], "to": "\#(id)", "id": "\#(id)", "#
                        + #""checksum": "sha256:\#(sum)", "retry": {"limit": 1, "scale": "10ms"}}"#
                })
            let result = try await stage.startJobs().result()
            #expect(result.exitCode == 0, "\(result)")
            let events = try result.events()
            for id in ["address", "name", "second"] {
                let finished = events.named("job.finished").first { $0["id"]?.string == id }
                #expect(finished?["attempts"]?.int == 1, "\(id): \(result)")
            }
        }
    }

    /// A name without a reachable name server waits, spends no attempt, and starts when its name server can be reached.
    @Test func aNameWaitsUntilItsNameServerHasARoute() async throws {
        try await NetworkStage.with { stage in
            let names = try await stage.network.startNameServer()
            names.set("nas.plant", [TestNetwork.server])
            let sum = try await stage.serve("file", mebibytes: 1)
            try await stage.client.ip(["route del default", "route add \(TestNetwork.server) via 10.0.0.1"])
            try stage.place.jobs([
                download(
                    stage.url("/file", at: "nas.plant"), to: "file",
                    #""segments": 1, "id": "file", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            try await stage.client.ip(["route add \(TestNetwork.nameServer) via 10.0.0.1"])
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            #expect(try result.events().named("batch.continues").count == 1, "\(result)")
        }
    }
}
