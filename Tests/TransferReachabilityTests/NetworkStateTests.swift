import Testing
import TransferCore

@testable import TransferReachability

@Suite("The kernel's tables out of its messages")
struct NetworkStateTests {
    private func state(_ messages: [UInt8]...) -> NetworkState {
        var state = NetworkState()
        for frame in messages.flatMap({ NetlinkFrame.parse($0) }) { _ = state.apply(frame) }
        return state
    }

    private func apply(_ bytes: [UInt8], to state: inout NetworkState) throws -> NetworkState.Outcome {
        state.apply(try #require(NetlinkFrame.parse(bytes).first))
    }

    private func snapshot(_ state: NetworkState) -> NetworkSnapshot {
        state.snapshot(rule: MeteredRule(), managed: ManagedNetwork())
    }

    static let eth0 = MessageBytes.link(2, "eth0")
    static let address = MessageBytes.address(2, "192.0.2.2", prefix: 24)
    static let route = MessageBytes.route(via: "192.0.2.1", 2, metric: 100)

    @Test func aLinkWithAnAddressAndADefaultRouteIsAWayOut() {
        let snapshot = snapshot(state(Self.eth0, Self.address, Self.route))
        #expect(snapshot.status == .reachable(.ethernetOrWiFi))
        #expect(snapshot.waysOut.map(\.name) == ["eth0"])
        let route = snapshot.defaultRoute(.v4)
        #expect(route?.gateway == IPAddress("192.0.2.1") && route?.metric == 100 && route?.table == 254)
    }

    @Test func eachPartAloneIsNoWayOut() {
        #expect(snapshot(state(Self.eth0, Self.address)).status == .notReachable)
        #expect(snapshot(state(Self.eth0, Self.route)).status == .notReachable)
        #expect(snapshot(state(Self.address, Self.route)).status == .notReachable)
        let down = MessageBytes.link(2, "eth0") { $0.flags = 0x1002 }
        #expect(snapshot(state(down, Self.address, Self.route)).status == .notReachable)
        let noCarrier = MessageBytes.link(2, "eth0") { $0.flags = 0x1003 }
        #expect(snapshot(state(noCarrier, Self.address, Self.route)).status == .notReachable)
        let prohibited = MessageBytes.route(via: "192.0.2.1", 2, kind: 8)
        #expect(snapshot(state(Self.eth0, Self.address, prohibited)).status == .notReachable)
    }

    @Test func tentativeAndDuplicateAddressesCarryNothing() {
        let route = MessageBytes.route(via: "fe80::1", 2)
        let of = { (flags: UInt32) in
            self.snapshot(
                self.state(Self.eth0, MessageBytes.address(2, "2001:db8::2", prefix: 64, flags: flags), route))
        }
        #expect(of(0x80).status == .reachable(.ethernetOrWiFi))
        #expect(of(0x40).status == .notReachable)
        #expect(of(0x08).status == .notReachable)
        // An optimistic address may be used while its duplicate check runs (RFC 4429).
        #expect(of(0x44).status == .reachable(.ethernetOrWiFi))
        #expect(of(0xA0).links.first?.addresses.first?.flags == .deprecated)
    }

    @Test func aRepeatChangesNothing() throws {
        var state = state(Self.eth0, Self.address, Self.route)
        for bytes in [Self.eth0, Self.address, Self.route] {
            let outcome = try apply(bytes, to: &state)
            #expect(outcome == NetworkState.Outcome())
        }
    }

    @Test func aLinkThatGoesTakesItsAddressesAndRoutesAlong() throws {
        var state = state(Self.eth0, Self.address, Self.route)
        let outcome = try apply(MessageBytes.link(2, "eth0", type: 17), to: &state)
        #expect(outcome.changed && outcome.doubts == [.routes4, .routes6])
        #expect(snapshot(state) == NetworkSnapshot())
    }

    @Test func aLinkThatGoesDownLosesItsRoutesAtOnceAndTheRestIsAskedFor() throws {
        let other = MessageBytes.link(3, "eth1")
        var state = state(Self.eth0, other, Self.address, Self.route, MessageBytes.route(via: "198.51.100.1", 3))
        let outcome = try apply(MessageBytes.link(2, "eth0") { $0.flags = 0x1002 }, to: &state)
        #expect(outcome.doubts == [.routes4, .routes6])
        #expect(snapshot(state).defaultRoutes.map(\.link) == [3])
    }

    @Test func aRenamedLinkIsTheSameAndIsLookedAtAnew() throws {
        var state = state(Self.eth0, Self.address, Self.route)
        state.setFacts(LinkFacts(isWireless: true), of: 2)
        #expect(snapshot(state).links.first?.kind == .wifi && state.linksWithoutFacts.isEmpty)
        let outcome = try apply(MessageBytes.link(2, "lan"), to: &state)
        #expect(outcome.changed)
        #expect(state.linksWithoutFacts.map(\.name) == ["lan"])
        #expect(snapshot(state).waysOut.map(\.name) == ["lan"])
    }

    @Test func aDumpLeavesWhatSysfsShowedOfTheSameLinks() throws {
        var state = state(Self.eth0)
        state.setFacts(LinkFacts(isWireless: true), of: 2)
        let frames = NetlinkFrame.parse(Self.eth0 + MessageBytes.link(3, "eth1"))
        let changed = state.replace(.links, with: frames)
        #expect(changed && state.linksWithoutFacts.map(\.index) == [3])
        let again = state.replace(.links, with: frames)
        #expect(!again)
    }

    @Test func theLowerMetricAndTheEarlierRuleArePreferred() {
        let eth1 = MessageBytes.link(3, "eth1")
        let addresses = Self.address + MessageBytes.address(3, "198.51.100.2", prefix: 24)
        let routes = Self.route + MessageBytes.route(via: "198.51.100.1", 3, metric: 50)
        let plain = snapshot(state(Self.eth0, eth1, addresses, routes))
        #expect(plain.waysOut.map(\.name) == ["eth1", "eth0"])
        // The rules of wg-quick: unmarked traffic uses a table of its own.
        let rules = rule(32766, table: 254) + rule(100, table: 700, mark: 9, inverted: true)
        let tunnel = MessageBytes.link(4, "wg0") {
            $0.kind = "wireguard"
            $0.hardware = 65534
        }
        let state = state(
            Self.eth0, eth1, addresses, routes, rules, tunnel, MessageBytes.address(4, "10.9.0.2", prefix: 32),
            MessageBytes.route(via: "10.9.0.1", 4, table: 700))
        #expect(snapshot(state).waysOut.map(\.name) == ["wg0", "eth1", "eth0"])
    }

    @Test func aTableThatNoRuleLeadsToIsNoWayOut() {
        let route = MessageBytes.route(via: "192.0.2.1", 2, table: 100)
        let main = rule(32766, table: 254)
        let with = { (more: [UInt8]) in self.snapshot(self.state(Self.eth0, Self.address, route, main, more)).status }
        #expect(with([]) == .notReachable)
        #expect(with(rule(50, table: 100)) == .reachable(.ethernetOrWiFi))
        #expect(with(rule(50, table: 100, mark: 7)) == .notReachable)
        #expect(with(rule(50, table: 100, incoming: "eth5")) == .notReachable)
        #expect(with(rule(50, table: 100, suppressed: 0)) == .notReachable)
        #expect(with(rule(50, table: 100, action: 8)) == .notReachable)
    }

    private func rule(
        _ priority: UInt32, table: UInt32, mark: UInt32? = nil, inverted: Bool = false, incoming: String? = nil,
        suppressed: UInt32? = nil, action: UInt8 = 1
    ) -> [UInt8] {
        MessageBytes.message(32) { body in
            body.bytes += [2, 0, 0, 0, table < 256 ? UInt8(table) : 252, 0, 0, action]
            body.append(UInt32(inverted ? 2 : 0))
            body.attribute(15, table)
            body.attribute(6, priority)
            // The kernel reports for each rule that it suppresses nothing.
            body.attribute(14, suppressed ?? .max)
            if let mark { body.attribute(10, mark) }
            if let incoming { body.attribute(3, incoming) }
        }
    }

    @Test func aReplacingRouteTakesThePlaceOfTheOneBefore() throws {
        var state = state(Self.eth0, Self.address, Self.route)
        let outcome = try apply(MessageBytes.route(via: "192.0.2.9", 2, metric: 100, flags: 0x100), to: &state)
        #expect(outcome.changed)
        #expect(snapshot(state).defaultRoutes.map(\.gateway) == [IPAddress("192.0.2.9")])
    }

    @Test func aRouteThatGoesOtherwiseThanItCameIsAskedFor() throws {
        var state = state(Self.eth0, Self.address, Self.route)
        let other = try apply(MessageBytes.route(via: "192.0.2.9", 2, metric: 100, type: 25), to: &state)
        #expect(other == NetworkState.Outcome(doubts: [.routes4]))
        let unknown = try apply(MessageBytes.route(via: "192.0.2.9", 2, metric: 7, type: 25), to: &state)
        #expect(unknown == NetworkState.Outcome())
        let gone = try apply(MessageBytes.route(via: "192.0.2.1", 2, metric: 100, type: 25), to: &state)
        #expect(gone == NetworkState.Outcome(changed: true))
    }

    @Test func routesThatAreNoDefaultsChangeNothing() throws {
        var state = state(Self.eth0)
        let outcome = try apply(MessageBytes.route(via: "192.0.2.1", 2, prefix: 24), to: &state)
        #expect(outcome == NetworkState.Outcome() && Array(state.routes).isEmpty)
    }
}
