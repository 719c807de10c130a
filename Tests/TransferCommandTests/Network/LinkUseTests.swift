import Foundation
import Testing
import TransferTestSupport

/// Links that lead nowhere, and links whose bytes are counted, on the real kernel.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct LinkUseTests {
    /// The kernel prefers eth0, which has a carrier and a route, and from which no answer comes back.
    @Test func aLinkThatLeadsNowhereIsPassedByForAnother() async throws {
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
                    #""id": "file", "checksum": "sha256:\#(sum)", "network": {"meteredBudget": "2M/day"}"#)
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
}
