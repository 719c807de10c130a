import Testing
import TransferCore

@testable import TransferReachability

@Suite("Snapshots of the network")
struct NetworkSnapshotTests {
    typealias Link = NetworkSnapshot.Link

    static func link(_ index: Int, _ name: String, _ kind: LinkKind = .ethernet, lower: Int? = nil, master: Int? = nil)
        -> Link
    {
        var link = Link(index: index, name: name, kind: kind, lowerLink: lower, master: master)
        link.addresses = IPAddress("192.0.2.\(index)").map { [NetworkSnapshot.Address($0, prefix: 24)] } ?? []
        return link
    }

    static func snapshot(_ links: [Link], routes: [Int]) -> NetworkSnapshot {
        NetworkSnapshot(
            links: links,
            defaultRoutes: routes.enumerated().map {
                NetworkSnapshot.DefaultRoute(version: .v4, link: $0.element, metric: UInt32($0.offset))
            })
    }

    @Test func onlyCellularWaysMakeItCellular() {
        let (modem, eth0) = (Self.link(2, "wwan0", .cellular), Self.link(3, "eth0"))
        #expect(Self.snapshot([modem], routes: [2]).status == .reachable(.cellular))
        #expect(Self.snapshot([modem, eth0], routes: [2, 3]).status == .reachable(.ethernetOrWiFi))
        // The Ethernet link has no route out.
        #expect(Self.snapshot([modem, eth0], routes: [2]).status == .reachable(.cellular))
    }

    @Test func virtualLinksWithoutADefaultRouteAreNoWayOut() {
        let links = [
            Self.link(2, "docker0", .bridge), Self.link(3, "veth1", .virtualEthernet), Self.link(4, "tun0", .tunnel),
        ]
        #expect(Self.snapshot(links, routes: []).status == .notReachable)
        #expect(Self.snapshot([Self.link(1, "lo", .loopback)], routes: [1]).status == .notReachable)
    }

    @Test func missingInformationIsUnknown() {
        #expect(NetworkSnapshot.unknown.status == .unknown && !NetworkSnapshot.unknown.isKnown)
    }

    @Test func aTunnelHasTheKindOfItsCarrier() {
        let (modem, tunnel) = (Self.link(2, "wwan0", .cellular), Self.link(4, "wg0", .wireGuard))
        let snapshot = Self.snapshot([modem, tunnel], routes: [4, 2])
        #expect(snapshot.underlying(of: 4)?.name == "wwan0" && snapshot.kind(of: 4) == .cellular)
        #expect(snapshot.status == .reachable(.cellular))
        // The link that carries the tunnel is unknown.
        #expect(Self.snapshot([modem, tunnel], routes: [4]).kind(of: 4) == .wireGuard)
        #expect(Self.snapshot([modem, tunnel], routes: [4]).status == .reachable(.ethernetOrWiFi))
    }

    @Test func aTunnelOverATunnelAndABoundOneAreFollowedDown() {
        let links = [
            Self.link(2, "eth0"), Self.link(3, "wwan0", .cellular), Self.link(4, "gre1", .tunnel, lower: 3),
            Self.link(5, "wg0", .wireGuard), Self.link(6, "wg0.7", .vlan, lower: 5),
        ]
        let snapshot = Self.snapshot(links, routes: [2, 3])
        #expect(snapshot.underlying(of: 4)?.name == "wwan0")
        #expect(snapshot.underlying(of: 6)?.name == "eth0")
    }

    @Test func aBridgeAndABondAreOfTheKindOfTheirRunningPort() {
        var cut = Self.link(2, "eth0", master: 9)
        cut.hasCarrier = false
        let links = [
            cut, Self.link(3, "wlan0", .wifi, master: 9), Self.link(4, "veth1", .virtualEthernet, master: 9),
            Self.link(9, "br0", .bridge),
        ]
        #expect(Self.snapshot(links, routes: [9]).kind(of: 9) == .wifi)
        #expect(Self.snapshot([Self.link(9, "br0", .bridge)], routes: [9]).kind(of: 9) == .bridge)
        // The virtual Ethernet link of a container.
        let pair = Self.snapshot([Self.link(2, "eth0", .virtualEthernet)], routes: [2])
        #expect(pair.kind(of: 2) == .ethernet && pair.links[0].kind == .virtualEthernet)
    }

    @Test func linksThatLieOnEachOtherEndTheSearch() {
        let links = [Self.link(2, "a", .vlan, lower: 3), Self.link(3, "b", .vlan, lower: 2)]
        #expect(Self.snapshot(links, routes: [2]).underlying(of: 2) != nil)
        #expect(Self.snapshot(links, routes: [2]).underlying(of: 8) == nil)
    }

    @Test func meteringFollowsTheLinkOrItsCarrier() {
        var modem = Self.link(2, "wwan0", .cellular)
        modem.metering = .guessedYes
        var tunnel = Self.link(4, "wg0", .wireGuard)
        #expect(Self.snapshot([modem, tunnel], routes: [2]).metering(of: 4) == .guessedYes)
        tunnel.metering = .guessedNo
        #expect(Self.snapshot([modem, tunnel], routes: [2]).metering(of: 4) == .guessedYes)
        tunnel.metering = .no
        #expect(Self.snapshot([modem, tunnel], routes: [2]).metering(of: 4) == .no)
        #expect(Metering.allCases.filter(\.isMetered) == [.yes, .guessedYes])
    }

    @Test func theUsersMeteringPrecedesNetworkManagersAndTheKind() {
        var state = NetworkState()
        for (index, name) in ["wwan0", "wwan1", "usb0"].enumerated() {
            for frame in NetlinkFrame.parse(MessageBytes.link(index + 1, name)) { _ = state.apply(frame) }
        }
        let managed = ManagedNetwork(connectivity: .portal, metering: ["wwan1": .no, "usb0": .guessedNo])
        let snapshot = state.snapshot(rule: MeteredRule(metered: ["usb*"]), managed: managed)
        #expect(snapshot.links.map(\.metering) == [.guessedYes, .no, .yes] && snapshot.connectivity == .portal)
    }

    @Test func aLinkLocalAddressOfVersion6LeadsNowhere() throws {
        var eth0 = Self.link(2, "eth0")
        let route = NetworkSnapshot.DefaultRoute(version: .v6, link: 2)
        eth0.addresses = [
            NetworkSnapshot.Address(try #require(IPAddress("fe80::2")), prefix: 64, scope: .link)
        ]
        #expect(NetworkSnapshot(links: [eth0], defaultRoutes: [route]).status == .notReachable)
        eth0.addresses.append(NetworkSnapshot.Address(try #require(IPAddress("2001:db8::2")), prefix: 64))
        let snapshot = NetworkSnapshot(links: [eth0], defaultRoutes: [route])
        #expect(snapshot.isWayOut(2, .v6) && !snapshot.isWayOut(2, .v4))
        let owner = snapshot.link(with: try #require(IPAddress("2001:db8::2")))
        #expect(owner?.name == "eth0")
    }

    @Test func aDormantLinkDoesNotRun() {
        var eth0 = Self.link(2, "eth0")
        for (state, runs) in [(.up, true), (.unknown, true), (.dormant, false), (.down, false)]
            as [(NetworkSnapshot.OperationalState, Bool)]
        {
            eth0.operation = state
            #expect(eth0.isRunning == runs, "\(state)")
        }
    }

    @Test(arguments: [
        ("::", "::"), ("::1", "::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("fe80::0a", "fe80::a"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("192.0.2.1", "192.0.2.1"),
        ("1::", "1::"),
    ])
    func addressesAreWrittenAsTheRFCSays(_ text: String, _ expected: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == expected && IPAddress(bytes: address.bytes) == address)
        #expect(IPAddress(bytes: address.bytes.dropLast()) == nil)
    }
}
