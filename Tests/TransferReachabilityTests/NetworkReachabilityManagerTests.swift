import Dispatch
import Testing
import TransferCore

@testable import TransferReachability

@Suite("The reachability manager", .timeLimit(.minutes(1)))
struct NetworkReachabilityManagerTests {
    @Test func theStatusIsDeliveredWhenListeningStarts() async throws {
        let manager = try #require(NetworkReachabilityManager())
        let status = await withCheckedContinuation { continuation in
            manager.startListening(onQueue: DispatchQueue(label: "listener")) { continuation.resume(returning: $0) }
        }
        #expect(status == manager.status)
        manager.stopListening()
        #expect(status == manager.status)
    }

    @Test func theKernelReportsItsLinks() throws {
        let snapshot = try #require(NetworkSnapshot.ofKernel(NetworkMonitor.Options()))
        let loopback = try #require(snapshot.link(named: "lo"))
        #expect(snapshot.isKnown && loopback.isLoopback && loopback.index > 0)
    }

    @Test func loopbackDestinationsAreReachableWhateverTheNetwork() throws {
        for host in ["127.0.0.1", "::1", "[::1]", "localhost", "a.localhost", "LOCALHOST."] {
            let manager = try #require(NetworkReachabilityManager(host: host))
            #expect(manager.status == .reachable(.ethernetOrWiFi), "\(host)")
            #expect(manager.isReachable && manager.isReachableOnEthernetOrWiFi && !manager.isReachableOnCellular)
        }
    }

    @Test func noHostIsNoManager() {
        #expect(NetworkReachabilityManager(host: "") == nil)
    }
}
