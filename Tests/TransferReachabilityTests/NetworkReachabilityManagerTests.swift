import Dispatch
import Testing

@testable import TransferReachability

@Suite struct NetworkReachabilityManagerTests {
    typealias Link = NetworkSnapshot.Link

    static func link(_ name: String, up: Bool = true, running: Bool = true, loopback: Bool = false) -> Link {
        Link(
            index: name.utf8.reduce(0) { $0 * 31 + Int($1) }, name: name, isUp: up, isRunning: running,
            isLoopback: loopback)
    }

    static func status(_ links: [Link], routes: [Link]) -> NetworkReachabilityManager.NetworkReachabilityStatus {
        NetworkSnapshot(links: links, defaultRouteLinks: Set(routes.map(\.index))).status
    }

    @Test func aRunningLinkWithADefaultRouteIsAWayToTheNetwork() {
        let eth0 = Self.link("eth0")
        #expect(Self.status([eth0], routes: [eth0]) == .reachable(.ethernetOrWiFi))
    }

    @Test func aLinkWithoutADefaultRouteIsNone() {
        #expect(Self.status([Self.link("docker0"), Self.link("eth0")], routes: []) == .notReachable)
    }

    @Test func aLinkWithoutCarrierOrDownIsNone() {
        let cut = Self.link("eth0", running: false)
        let down = Self.link("eth1", up: false)
        #expect(Self.status([cut, down], routes: [cut, down]) == .notReachable)
    }

    @Test func theLoopbackAloneIsNone() {
        let lo = Self.link("lo", loopback: true)
        #expect(Self.status([lo], routes: [lo]) == .notReachable)
    }

    @Test func onlyCellularLinksMakeItCellular() {
        let (modem, eth0) = (Self.link("wwan0"), Self.link("eth0"))
        #expect(Self.status([modem], routes: [modem]) == .reachable(.cellular))
        #expect(Self.status([modem, eth0], routes: [modem, eth0]) == .reachable(.ethernetOrWiFi))
    }

    @Test func theKernelTellsItsLinks() throws {
        let socket = try #require(NetlinkSocket())
        let snapshot = try #require(socket.snapshot())
        #expect(snapshot.links.contains { $0.name == "lo" && $0.isLoopback })
    }

    @Test func theStatusIsDeliveredWhenListeningStarts() async throws {
        let manager = try #require(NetworkReachabilityManager())
        let status = await withCheckedContinuation { continuation in
            manager.startListening(onQueue: DispatchQueue(label: "listener")) { continuation.resume(returning: $0) }
        }
        #expect(status == manager.status)
        manager.stopListening()
    }
}
