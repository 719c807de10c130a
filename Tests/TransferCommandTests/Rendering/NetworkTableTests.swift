import Foundation
import Testing
import TransferCore
import TransferReachability
import TransferTestSupport

@testable import transfer

/// Returns the state of a field camera's box: a cable with a route, a modem, a VPN over it, and a cable without a peer.
private func example() throws -> NetworkSnapshot {
    func address(_ text: String, _ prefix: Int) throws -> NetworkSnapshot.Address {
        .init(try #require(IPAddress(text)), prefix: prefix)
    }
    return NetworkSnapshot(
        links: [
            .init(
                index: 1, name: "lo", kind: .loopback, operation: .unknown, mtu: 65_536,
                addresses: [.init(try #require(IPAddress("127.0.0.1")), prefix: 8, scope: .host)]),
            .init(
                index: 2, name: "eth0", addresses: [try address("192.0.2.2", 24), try address("2001:db8::2", 64)]),
            .init(
                index: 3, name: "wwan0", kind: .cellular, metering: .guessedYes,
                addresses: [try address("198.51.100.2", 30)]),
            .init(
                index: 4, name: "wg0", kind: .wireGuard, mtu: 1420, addresses: [try address("10.8.0.2", 24)],
                lowerLink: 3),
            .init(index: 5, name: "eth1", hasCarrier: false, operation: .lowerLayerDown),
        ],
        defaultRoutes: [
            .init(version: .v4, link: 2, gateway: IPAddress("192.0.2.1"), metric: 100),
            .init(version: .v4, link: 3, metric: 700),
            .init(version: .v6, link: 2, gateway: IPAddress("2001:db8::1"), metric: 1024),
        ])
}

@Suite struct NetworkTableTests {
    @Test func looksAsIntended() throws {
        #expect(
            NetworkTable.lines(try example(), charset: .utf8).joined(separator: "\n") == """
                LINK   KIND       STATE       IPV4  IPV6  METERED    MTU
                eth0   ethernet   up           100  1024  -         1500
                wwan0  cellular   up           700     -  yes       1500
                wg0    wireguard  up             -     -  yes       1420
                eth1   ethernet   no carrier     -     -  -         1500
                lo     loopback   up             -     -  -        65536

                eth0   192.0.2.2/24, 2001:db8::2/64
                wwan0  198.51.100.2/30, metered by its kind
                wg0    10.8.0.2/24, over wwan0
                lo     127.0.0.1/8

                default route: IPv4 by eth0 (192.0.2.1), IPv6 by eth0 (2001:db8::1)
                """)
    }

    @Test func noLineIsWiderThanATerminal() throws {
        var snapshot = try example()
        snapshot.links[1].addresses = try (0..<9).map {
            .init(try #require(IPAddress("2001:db8:aaaa:bbbb:cccc:dddd:eeee:\($0)")), prefix: 64)
        }
        let lines = NetworkTable.lines(snapshot, charset: .utf8)
        #expect(lines.allSatisfy { $0.count <= 80 } && lines.count > 12)
        let text = lines.joined(separator: " ")
        #expect((0..<9).allSatisfy { text.contains("eeee:\($0)/64") })
    }

    @Test func aMissingDefaultRouteIsReported() throws {
        var snapshot = try example()
        snapshot.defaultRoutes = []
        let last = NetworkTable.lines(snapshot, charset: .utf8).last
        #expect(last == "default route: none; only this machine and its neighbours can be reached")
        #expect(
            NetworkTable.lines(.unknown, charset: .utf8) == [
                "the kernel cannot be asked here (no route netlink): a queue tries everything"
            ])
    }

    @Test func theNetworkIsOneObjectAsJSON() throws {
        let line = NetworkTable.json(try example(), time: start)
        let json = try JSONValue.parse(Data(line.utf8))
        #expect(json["known"] == .bool(true) && json["status"]?.string == "ethernetOrWiFi")
        #expect(line.contains(#""waysOut":["eth0","wwan0"]"#) && !line.contains("\n"))
        #expect(line.contains(#""name":"wg0","kind":"wireguard","over":"wwan0""#))
        #expect(
            line.contains(#"{"version":"IPv4","link":"wwan0","metric":700,"table":254,"isUsed":true}"#))
    }
}

@Suite struct NetworkChangesTests {
    /// A change of the example, and the lines that report it.
    private static let changes: [(String, @Sendable (inout NetworkSnapshot) -> Void, [String])] = [
        ("nothing", { _ in }, []),
        (
            "a carrier that goes",
            {
                $0.links[1].hasCarrier = false
                $0.links[1].operation = .lowerLayerDown
            },
            [
                "eth0 lost its carrier", "default route by wwan0 (IPv4, metric 700)", "no default route (IPv6)",
            ]
        ),
        (
            "a link that goes down", { $0.links[2].isUp = false }, ["wwan0 went down"]
        ),
        (
            "a link that is removed",
            { $0.links.removeAll { $0.name == "wg0" } }, ["wg0 is gone"]
        ),
        (
            "a new link", { $0.links.append(.init(index: 9, name: "eth2", operation: .dormant)) },
            ["eth2 is new: ethernet, dormant"]
        ),
        ("another name", { $0.links[4].name = "lan" }, ["eth1 is called lan now"]),
        ("a carrier that comes", { $0.links[4].hasCarrier = true }, ["eth1 has a carrier"]),
        (
            "addresses",
            {
                let address = IPAddress("203.0.113.7") ?? .loopback
                $0.links[2].addresses = [.init(address, prefix: 25)]
                $0.links[3].addresses[0].flags = .tentative
            }, ["wwan0 lost 198.51.100.2/30", "wwan0 has 203.0.113.7/25", "wg0 cannot use 10.8.0.2"]
        ),
        ("MTU", { $0.links[1].mtu = 1400 }, ["eth0 has an MTU of 1400"]),
        ("metering", { $0.links[1].metering = .yes }, ["eth0 is metered"]),
        ("a portal", { $0.connectivity = .portal }, ["NetworkManager says: a captive portal answers"]),
        ("another table", { $0.defaultRoutes[1].metric = 800 }, ["other routes changed"]),
    ]

    @Test(arguments: changes.indices) func eachChangeIsALine(_ index: Int) throws {
        let (what, change, lines) = Self.changes[index]
        let old = try example()
        var new = old
        change(&new)
        #expect(NetworkChanges.lines(from: old, to: new) == lines, "\(what)")
    }
}

extension IPAddress {
    fileprivate static var loopback: IPAddress { IPAddress(bytes: [127, 0, 0, 1])! }
}
