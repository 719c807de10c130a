import Foundation
import Testing
import TransferTestSupport

/// Transfers whose address is removed, on the real kernel: they continue over the remaining addresses, and no attempt
/// is spent.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct AddressTests {
    private static let replaced = [
        "address del 10.0.0.2/24 dev eth0", "address add 10.0.0.3/24 dev eth0", "route add default via 10.0.0.1",
    ]

    @Test func resumesAtOnceWhenItsAddressIsReplaced() async throws {
        try await NetworkStage.with(limitRate: "4m") { stage in
            let sum = try await stage.serve("large", mebibytes: 12)
            try stage.place.jobs([download(stage.url("/large"), to: "large", #""segments": 1, "id": "large""#)])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            try await stage.client.ip(Self.replaced)
            let routed = ContinuousClock.now
            let offset = try await process.continued("large")
            printMeasured("bytes flow after the address was replaced", since: routed)
            #expect(ContinuousClock.now - routed < .seconds(10))
            #expect(offset >= 1 << 20, "little was kept of 2 MiB: \(offset)")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            #expect(try await stage.place.folder.sha256("large") == sum)
            let log = try await stage.logged(2)
            #expect(Set(log.map(\.remoteAddress)) == ["10.0.0.2", "10.0.0.3"], "\(log)")
            #expect(log.count == 2 && log.askedTwice <= 1 << 20, "\(log)")
        }
    }

    /// Only transfers over the removed address are stopped.
    @Test func transfersOverAnotherAddressAreNotInterrupted() async throws {
        try await NetworkStage.with(limitRate: "2m") { stage in
            try await stage.network.connect("eth1", 1, [])
            // Each server address is reached over a link of its own.
            try await stage.client.ip(
                "address add 10.0.1.2/24 dev eth1", "route add \(TestNetwork.otherServer)/32 via 10.0.1.1")
            let sum = try await stage.serve("large", mebibytes: 6)
            try stage.place.jobs([
                download(stage.url("/large?a"), to: "a", #""segments": 1, "id": "a", "checksum": "sha256:\#(sum)""#),
                download(
                    stage.url("/large?b", at: TestNetwork.otherServer), to: "b",
                    #""segments": 1, "id": "b", "checksum": "sha256:\#(sum)""#),
            ])
            let process = try stage.startJobs()
            try await process.progress("a", atLeast: 1 << 20)
            try await process.progress("b", atLeast: 1 << 20)
            try await stage.client.ip(Self.replaced)
            _ = try await process.continued("a")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            let log = try await stage.logged(3)
            #expect(log.filter { $0.uri == "/large?b" }.map(\.remoteAddress) == ["10.0.1.2"], "\(log)")
            #expect(log.filter { $0.uri == "/large?a" }.map(\.remoteAddress).sorted() == ["10.0.0.2", "10.0.0.3"])
        }
    }

    @Test func theNamesAddressOfTheOldNetworkIsForgotten() async throws {
        try await NetworkStage.with(limitRate: "4m") { stage in
            let names = try await stage.network.startNameServer()
            names.set("files.test", [TestNetwork.server])
            let sum = try await stage.serve("large", mebibytes: 12)
            try stage.place.jobs([
                download(
                    stage.url("/large", at: "files.test"), to: "large",
                    #""segments": 1, "id": "large", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            // The cached answer was valid for five minutes.
            names.set("files.test", [TestNetwork.otherServer])
            let asked = names.queries.count
            try await stage.peer.ip("address del \(TestNetwork.server)/32 dev lo")
            try await stage.client.ip(Self.replaced)
            _ = try await process.continued("large")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            #expect(names.queries.count > asked)
        }
    }

    @Test func continuesOverVersion6WhenOnlyThatIsLeft() async throws {
        try await NetworkStage.with(limitRate: "4m") { stage in
            let names = try await stage.network.startNameServer()
            names.set("files.test", [TestNetwork.server, TestNetwork.serverVersion6])
            let sum = try await stage.serve("large", mebibytes: 12)
            try stage.place.jobs([
                download(
                    stage.url("/large", at: "files.test"), to: "large",
                    #""segments": 1, "id": "large", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            try await stage.client.ip(TestNetwork.version6("eth0", 0) + ["address del 10.0.0.2/24 dev eth0"])
            let routed = ContinuousClock.now
            _ = try await process.continued("large")
            printMeasured("bytes flow after version 6 was all that was left", since: routed)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            let log = try await stage.logged(2)
            #expect(Set(log.map(\.remoteAddress)) == ["10.0.0.2", "2001:db8::2"], "\(log)")
        }
    }

    /// Replies to packets with the old link's address over the other link are lost, as behind any home router.
    @Test func continuesOverTheOtherLinkWhenTheDefaultRouteMoves() async throws {
        try await NetworkStage.with(limitRate: "4m") { stage in
            try await stage.network.connect("eth1", 1, metric: 200)
            try await stage.peer.run("echo 1 >/proc/sys/net/ipv4/conf/all/rp_filter")
            let sum = try await stage.serve("large", mebibytes: 16)
            try stage.place.jobs([
                download(
                    stage.url("/large"), to: "large", #""segments": 1, "id": "large", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            try await stage.client.ip("route del default via 10.0.0.1 metric 100")
            let routed = ContinuousClock.now
            _ = try await process.continued("large")
            printMeasured("bytes flow after the default route moved", since: routed)
            #expect(ContinuousClock.now - routed < .seconds(15))
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            let log = try await stage.logged(2)
            #expect(log.map(\.remoteAddress).sorted() == ["10.0.0.2", "10.0.1.2"], "\(log)")
        }
    }

    @Test func aTransferIsNotInterruptedWhenItsLinkIsRenamed() async throws {
        try await NetworkStage.with(limitRate: "2m") { stage in
            let sum = try await stage.serve("large", mebibytes: 8)
            try stage.place.jobs([
                download(
                    stage.url("/large"), to: "large", #""segments": 1, "id": "large", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 2 << 20)
            try await stage.client.ip("link set eth0 name lan7")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            let log = try await stage.logged(1)
            #expect(log.count == 1 && log.first?.bodyBytesSent == 8 << 20, "\(log)")
            #expect(try result.events().named("job.started").count == 1)
        }
    }
}
