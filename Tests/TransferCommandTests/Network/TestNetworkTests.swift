import Foundation
import Glibc
import Testing
import TransferTestSupport

/// The properties of the emulated networks that the tests on the kernel rely on.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(1)))
struct TestNetworkTests {
    @Test func theServerIsReachedOverEachLink() async throws {
        try await NetworkStage.with { stage in
            try await stage.network.connectTunnel("tun0", 9, metric: 500)
            let sum = try await stage.serve("file", mebibytes: 2)
            // The tunnel is first: a connection's last packets may leave after its client has ended.
            let fetched = try await stage.client.run("curl -sS --interface tun0 '\(stage.url("/file"))' | sha256sum")
            #expect(fetched.hasPrefix(sum))
            #expect(try await stage.client.traffic("eth0").sentPackets == 0)
            #expect(try await stage.client.traffic("tun0").receivedBytes > 2 << 20)
            try await stage.client.ip(TestNetwork.version6("eth0", 0))
            for host in [TestNetwork.server, TestNetwork.serverVersion6, TestNetwork.otherServer] {
                let fetched = try await stage.client.run("curl -sS -g '\(stage.url("/file", at: host))' | sha256sum")
                #expect(fetched.hasPrefix(sum))
            }
            #expect(try await stage.client.traffic("eth0").receivedBytes > 6 << 20)
            #expect(
                try await stage.logged(4).map(\.remoteAddress) == ["10.0.9.2", "10.0.0.2", "2001:db8::2", "10.0.0.2"])
        }
    }

    @Test func namesAreAnsweredOrLost() async throws {
        try await withTestNetwork { network in
            try await network.connect("eth0", 0, [.version4, .version6])
            let names = try await network.startNameServer()
            names.set("files.test", [TestNetwork.server, TestNetwork.serverVersion6])
            let found = try await network.client.run("getent ahosts files.test")
            #expect(found.contains(TestNetwork.server) && found.contains(TestNetwork.serverVersion6), "\(found)")
            #expect(Set(names.queries.map(\.source)) == ["10.0.0.2"])
            #expect(try await network.client.run("getent ahosts other.test || echo $?") == "2\n")
            try network.client.setNameServers([TestNetwork.nameServerVersion6])
            #expect(try await network.client.run("getent ahostsv4 files.test").contains(TestNetwork.server))
            #expect(names.queries.last?.source == "2001:db8::2")
            let asked = names.queries.count
            names.answers = false
            #expect(try await network.client.run("getent ahosts files.test || echo $?") == "2\n")
            #expect(names.queries.count > asked)
        }
    }

    @Test func leavesNothingBehindAlsoAfterAFailure() async throws {
        struct Failure: Error {}
        var names: [String] = []
        await #expect(throws: Failure.self) {
            try await withTestNetwork { network in
                names = [network.client.name, network.peer.name]
                #expect(names.allSatisfy { there.contains($0) })
                try await network.connect("eth0", 0)
                throw Failure()
            }
        }
        #expect(names.count == 2 && names.allSatisfy { !there.contains($0) })
        #expect(names.allSatisfy { !FileManager.default.fileExists(atPath: "/etc/netns/\($0)") })
    }

    @Test func remainsOfADeadRunAreRemoved() async throws {
        let ended = try ChildProcess.start(ChildProcess.Command("/bin/true"))
        _ = try await ended.result()
        let name = "transfer-\(ended.processID)-1-client"
        let living = "transfer-\(getpid())-0-client"
        let made = try await ChildProcess.start(
            ChildProcess.Command("/bin/sh", ["-c", "ip netns add \(name) && ip netns add \(living)"])
        ).result()
        #expect(made.exitCode == 0 && there.contains(name), "\(made)")
        NetworkNamespaces.sweep()
        #expect(!there.contains(name) && there.contains(living))
        _ = try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", "ip netns del \(living)"])).result()
    }

    private var there: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? [])
    }
}
