import Testing
import TransferCore
import TransferQueueFixtures
import TransferReachability

@testable import TransferJobs
@testable import TransferScheduling

/// The meaning of changes in the kernel's state for the queue: which connections end, and which rules let jobs start.
@Suite struct QueueNetworkTests {
    private let start = MonotonicTime.seconds(100)
    private let wall = at("2026-11-21 12:00")

    private func address(_ text: String) -> IPAddress { IPAddress(text)! }

    private func link(
        _ index: Int, _ name: String, _ addresses: String..., kind: LinkKind = .ethernet, carrier: Bool = true,
        metering: Metering = .unknown
    ) -> NetworkSnapshot.Link {
        NetworkSnapshot.Link(
            index: index, name: name, kind: kind, hasCarrier: carrier, operation: carrier ? .up : .lowerLayerDown,
            metering: metering, addresses: addresses.map { .init(address($0), prefix: 24) })
    }

    private func snapshot(_ links: [NetworkSnapshot.Link], routes: [Int]) -> NetworkSnapshot {
        NetworkSnapshot(
            links: links,
            defaultRoutes: routes.enumerated().map { .init(version: .v4, link: $1, metric: UInt32($0)) })
    }

    private func network(_ snapshot: NetworkSnapshot) -> QueueNetwork {
        var network = QueueNetwork(zone: .utc)
        _ = network.update(snapshot, now: start, wall: wall)
        return network
    }

    @Test func aRemovedAddressIsLostAndChangesTheRoutes() {
        var network = network(snapshot([link(2, "eth0", "10.0.0.2")], routes: [2]))
        let change = network.update(snapshot([link(2, "eth0", "10.0.0.3")], routes: [2]), now: start, wall: wall)
        #expect(change.lost == [address("10.0.0.2")] && change.silent.isEmpty && change.isOtherWay)
        #expect(network.generation == 1)
    }

    @Test func aLinkWithoutCarrierIsSilentAndKeepsItsAddress() {
        var network = network(snapshot([link(2, "eth0", "10.0.0.2")], routes: [2]))
        let down = snapshot([link(2, "eth0", "10.0.0.2", carrier: false)], routes: [2])
        let change = network.update(down, now: start, wall: wall)
        #expect(change.lost.isEmpty && change.silent == [address("10.0.0.2")] && change.isOtherWay)
    }

    @Test func aNewNameAndALinkWithoutARouteChangeNoRoutes() {
        let before = snapshot([link(2, "eth0", "10.0.0.2")], routes: [2])
        var network = network(before)
        let renamed = snapshot([link(2, "lan0", "10.0.0.2"), link(9, "veth1", kind: .virtualEthernet)], routes: [2])
        let change = network.update(renamed, now: start, wall: wall)
        #expect(change == .init() && network.generation == 0)
        #expect(network.update(renamed, now: start, wall: wall) == .init())
    }

    @Test func theFirstStateIsNoChangeOfRoutes() {
        var network = QueueNetwork(zone: .utc)
        let change = network.update(snapshot([link(2, "eth0", "10.0.0.2")], routes: [2]), now: start, wall: wall)
        #expect(!change.isOtherWay && network.generation == 0)
    }

    @Test func aHostWaitsOfflineUntilItIsFoundOnTheOwnNetwork() {
        var network = network(snapshot([link(2, "eth0", "10.0.0.2")], routes: []))
        let verdict = network.verdict([""], now: start, wall: wall)
        var gate = verdict.gate
        #expect(gate.offline == [""] && gate.closed.isEmpty && verdict.looksNearby == [""])
        let lane = Lane(batch: 1, origin: "http://nas.lan")
        let nearby = HostUnderRules(host: "nas.lan", network: "")
        #expect(gate.isHeld(lane, .name("nas.lan")))
        gate.undecided = [nearby]
        #expect(!gate.isOpen(lane, .name("nas.lan")) && !gate.isHeld(lane, .name("nas.lan")))
        gate.undecided = []
        gate.direct = [nearby, HostUnderRules(host: "10.0.0.9", network: "")]
        #expect(gate.isOpen(lane, .name("nas.lan")) && !gate.isOpen(lane, .name("a.example")))
        let literal = Lane(batch: 1, origin: "http://10.0.0.9")
        #expect(gate.isOpen(literal, .address(address("10.0.0.9"), host: "10.0.0.9")))
        #expect(gate.isOpen(Lane(batch: 1, origin: "http://127.0.0.1"), .local))
        gate.unreachable = [lane]
        #expect(!gate.isOpen(lane, .name("nas.lan")))
    }

    /// A schedule also applies to transfers to this machine; other rules do not.
    @Test func outsideItsScheduleNoTransferStarts() throws {
        let night = try policy(#""schedule": "22:00-06:00""#).key
        let unmetered = try policy(#""metered": "forbid""#).key
        let modem = link(3, "wwan0", "10.1.0.2", kind: .cellular, metering: .yes)
        var network = network(snapshot([modem], routes: [3]))
        let verdict = network.verdict([night, unmetered], now: start, wall: wall)
        #expect(verdict.gate.shut == [night] && verdict.gate.closed == [unmetered])
        #expect(verdict.looksNearby == [unmetered])
        let origin = "http://127.0.0.1"
        #expect(!verdict.gate.isOpen(Lane(batch: 1, origin: origin, network: night), .local))
        #expect(verdict.gate.isHeld(Lane(batch: 1, origin: origin, network: night), .local))
        #expect(verdict.gate.isOpen(Lane(batch: 1, origin: origin, network: unmetered), .local))
        #expect(network.allowedAddresses(night, wall: wall) == [])
    }

    /// Rules × the link that the kernel would send over.
    @Test(arguments: [
        ("", "eth0", true), ("", "down0", false), ("", "lo", true), ("", "", false),
        (#""allow": ["ethernet"]"#, "eth0", true), (#""allow": ["wifi"]"#, "eth0", false),
        (#""metered": "forbid""#, "eth0", true), (#""metered": "forbid""#, "wwan0", false),
        (#""require": "eth0""#, "eth0", true), (#""require": "wg0""#, "eth0", false),
        (#""require": "eth0""#, "lo", false),
    ])
    func aHostOnTheOwnNetworkIsReachedOverLinksThatTheRulesAllow(_ rules: String, _ over: String, _ isReached: Bool)
        throws
    {
        let links = [
            link(1, "lo", "127.0.0.1", kind: .loopback), link(2, "eth0", "10.0.0.2"),
            link(3, "wwan0", "10.1.0.2", kind: .cellular, metering: .yes), link(4, "down0", carrier: false),
        ]
        let network = network(snapshot(links, routes: []))
        let indexes = links.filter { $0.name == over }.map(\.index)
        #expect(network.admits(indexes, try policy(rules).key, wall: wall) == isReached)
    }

    @Test func withoutKernelInformationEverythingIsTried() throws {
        var network = network(.unknown)
        let required = try policy(#""require": "wg0""#).key
        let metered = try policy(#""metered": "forbid""#).key
        #expect(network.verdict(["", required, metered], now: start, wall: wall).gate == NetworkGate())
        #expect(network.judgement(required, wall: wall).decision == .use(["wg0"], mustBind: true))
        #expect(network.judgement(metered, wall: wall).decision == .anyLink)
    }

    @Test func aForbiddenLinkClosesItsRulesUntilAnotherLeadsOut() throws {
        let key = try policy(#""metered": "forbid""#).key
        let modem = link(3, "wwan0", "10.1.0.2", kind: .cellular, metering: .guessedYes)
        var network = network(snapshot([modem], routes: [3]))
        #expect(network.verdict(["", key], now: start, wall: wall).gate.closed == [key])
        #expect(network.allowedAddresses(key, wall: wall) == [])
        _ = network.update(snapshot([link(2, "eth0", "10.0.0.2"), modem], routes: [2, 3]), now: start, wall: wall)
        #expect(network.verdict(["", key], now: start, wall: wall).gate == NetworkGate())
        #expect(network.allowedAddresses(key, wall: wall) == [address("10.0.0.2")])
    }

    @Test func aScheduleNamesTheTimeOfTheNextCheck() throws {
        let key = try policy(#""schedule": "22:00-06:00""#).key
        var network = network(snapshot([link(2, "eth0", "10.0.0.2")], routes: [2]))
        let closed = network.verdict([key], now: start, wall: wall)
        #expect(closed.gate.shut == [key] && closed.lookAgain == at("2026-11-21 22:00"))
        let open = network.verdict([key], now: start, wall: at("2026-11-21 23:00"))
        #expect(open.gate == NetworkGate() && open.lookAgain == at("2026-11-22 06:00"))
    }

    @Test func aMeteredLinkIsTakenAfterTheWaitThatTheRulesAskFor() throws {
        let key = try policy(#""meteredAfter": "2h""#).key
        let modem = link(3, "wwan0", "10.1.0.2", kind: .cellular, metering: .yes)
        var network = network(snapshot([modem], routes: [3]))
        #expect(network.verdict([key], now: start, wall: wall).lookAgain == at("2026-11-21 14:00"))
        // The result does not depend on the wall clock's setting in the meantime.
        for wall in [at("2026-11-20 13:00"), at("2026-11-21 13:59"), at("2026-11-22 13:00")] {
            #expect(network.verdict([key], now: start + .seconds(7140), wall: wall).gate.closed == [key])
        }
        for wall in [at("2026-11-20 13:00"), at("2026-11-21 14:01")] {
            #expect(network.verdict([key], now: start + .seconds(7200), wall: wall).gate == NetworkGate())
        }
    }

    @Test func aSilentLinkIsUsedWithoutAnAlternative() {
        var network = network(snapshot([link(2, "eth0", "10.0.0.2")], routes: [2]))
        for host in ["a", "b", "c"] {
            _ = network.health.event(.unanswered(host: host, started: start), of: "eth0", now: start, wall: wall)
        }
        #expect(network.health.suspicion(of: "eth0")?.isBlamed == true)
        #expect(network.judgement("", wall: wall).decision == .anyLink)
        #expect(network.verdict([""], now: start, wall: wall).gate == NetworkGate())
    }

    @Test func aSilentLinkIsAvoidedForAnother() {
        let both = [link(2, "eth0", "10.0.0.2"), link(3, "wlan0", "10.1.0.2", kind: .wifi)]
        var network = network(snapshot(both, routes: [2, 3]))
        for host in ["a", "b", "c"] {
            _ = network.health.event(.unanswered(host: host, started: start), of: "eth0", now: start, wall: wall)
        }
        #expect(network.judgement("", wall: wall).decision == .use(["wlan0"], mustBind: false))
    }

    @Test func rulesAreReadBackFromTheirKey() throws {
        let rules = try policy(
            #""allow": ["ethernet", "wlan*"], "metered": "avoid", "meteredAfter": "24h", "schedule": "22:00-06:00""#)
        #expect(NetworkPolicy(key: rules.key) == rules)
        #expect(NetworkPolicy().key == "" && NetworkPolicy(key: "") == NetworkPolicy())
    }

    /// The first machine of a connection is the proxy, where the origin has one.
    @Test(arguments: [
        ("http://a.example", "http://px.lan:8080", "", "px.lan"),
        ("https://a.example", "socks5h://10.0.0.9", "", "10.0.0.9"),
        ("http://nas.lan:81", "http://px.lan:8080", "nas.lan", "nas.lan"), ("http://a.example", "", "", "a.example"),
        ("http://a.example", "http://localhost:3128", "", nil), ("ftp://a.example", "http://px.lan", "", "px.lan"),
    ])
    func theFirstMachineIsTheProxy(_ origin: String, _ proxy: String, _ exceptions: String, _ host: String?) {
        let rule =
            proxy.isEmpty ? ProxyRule() : ProxyRule(http: proxy, https: proxy, exceptions: ProxyRule.list(exceptions))
        #expect(OriginReach(origin: origin, proxies: rule).host == host)
    }

    @Test(arguments: [
        ("http://127.0.0.1:80", "local"), ("http://[::1]", "local"), ("https://localhost:8443", "local"),
        ("http://a.localhost", "local"), ("http://10.0.0.1", "address"), ("https://[2001:db8::1]:444", "address"),
        ("https://a.example", "name"), ("http://localhost.example", "name"), ("", "name"),
    ])
    func theRouteToAnOriginFollowsFromItsHost(_ origin: String, _ kind: String) {
        let reported =
            switch OriginReach(origin: origin) {
            case .local: "local"
            case .address: "address"
            case .name: "name"
            }
        #expect(reported == kind)
    }
}
