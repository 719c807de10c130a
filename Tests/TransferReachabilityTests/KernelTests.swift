import Foundation
import Glibc
import Testing
import TransferTestSupport

/// The monitor on the real kernel. Each test has a namespace of its own.
@Suite("The monitor on the kernel", .enabled(if: NetworkNamespace.isAllowed), .timeLimit(.minutes(1)))
struct KernelTests {
    /// Makes a namespace with one route out, and starts a probe in it.
    private func connected() async throws -> (NetworkNamespace, ProbeProcess) {
        let namespace = try await NetworkNamespace()
        try await namespace.makeLink("v0", "192.0.2.2/24")
        try await namespace.run("ip route add default via 192.0.2.1 metric 100")
        let probe = try namespace.probe("watch")
        try await probe.until("ethernetOrWiFi")
        return (namespace, probe)
    }

    @Test func aNamespaceWithoutAnyNetworkSeesItCome() async throws {
        let namespace = try await NetworkNamespace()
        let probe = try namespace.probe("watch")
        let first = try await probe.next()
        #expect(first["status"] == "notReachable" && first["known"] == "true" && first.link("lo").first == "1")
        try await namespace.makeLink("v0", "192.0.2.2/24")
        try await namespace.run("ip route add default via 192.0.2.1 metric 100")
        let last = try await probe.until("ethernetOrWiFi")
        #expect(last["IPv4"] == "v0/192.0.2.1/100" && last.link("v0").dropFirst().first == "veth")
    }

    @Test func aLinkThatGoesDownIsNoRouteOut() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.run("ip link set v0 down")
        let down = try await probe.until("notReachable")
        #expect(down["routes"] == "0")
        try await namespace.run("ip link set v0 up; ip route add default via 192.0.2.1")
        try await probe.until("ethernetOrWiFi")
    }

    @Test func aLinkThatLosesItsCarrierIsNoRouteOut() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.run("ip link set v0p down")
        let cut = try await probe.until("notReachable")
        #expect(cut.link("v0")[3...5] == ["up", "none", "lowerLayerDown"] && cut["routes"] == "1")
        try await namespace.run("ip link set v0p up")
        try await probe.until("ethernetOrWiFi")
    }

    @Test func anAddressThatIsReplacedTakesItsRouteAlongUntilThereIsANewOne() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.run("ip address del 192.0.2.2/24 dev v0")
        // The kernel does not report that the route was removed too.
        let without = try await probe.until { $0["routes"] == "0" }
        #expect(without["status"] == "notReachable" && without.link("v0").last == "")
        try await namespace.run("ip address add 198.51.100.2/24 dev v0; ip route add default via 198.51.100.1")
        let replaced = try await probe.until("ethernetOrWiFi")
        #expect(replaced.link("v0").last == "198.51.100.2/24" && replaced["IPv4"] == "v0/198.51.100.1/0")
    }

    @Test func theDefaultRouteMovesBetweenLinks() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.makeLink("v1", "198.51.100.2/24")
        try await namespace.run("ip route add default via 198.51.100.1 metric 50")
        try await probe.until { $0["IPv4"] == "v1/198.51.100.1/50" }
        try await namespace.run("ip route replace default via 198.51.100.9 metric 50")
        try await probe.until { $0["IPv4"] == "v1/198.51.100.9/50" && $0["routes"] == "2" }
        try await namespace.run("ip route del default metric 50")
        try await probe.until { $0["IPv4"] == "v0/192.0.2.1/100" }
        try await namespace.run("ip route add default via 198.51.100.1 metric 50")
        try await probe.until { $0["IPv4"] == "v1/198.51.100.1/50" }
        try await namespace.run("ip link del v1")
        let left = try await probe.until { $0["IPv4"] == "v0/192.0.2.1/100" && $0["link.v1"] == nil }
        #expect(left["status"] == "ethernetOrWiFi")
    }

    @Test func whenOnlyVersion6IsLeftThereIsAWay() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.run(
            "ip address add 2001:db8::2/64 dev v0 nodad; ip -6 route add default via 2001:db8::1 metric 7")
        try await probe.until { $0["IPv6"] == "v0/2001:db8::1/7" }
        try await namespace.run("ip address del 192.0.2.2/24 dev v0")
        let left = try await probe.until { $0["IPv4"] == "-/-/0" && $0["routes"] == "1" }
        #expect(left["status"] == "ethernetOrWiFi" && left["IPv6"] == "v0/2001:db8::1/7")
        try await namespace.run("ip -6 route del default")
        try await probe.until("notReachable")
    }

    @Test func anAddressThatIsStillCheckedForADoubleIsNotUsed() async throws {
        let namespace = try await NetworkNamespace()
        try await namespace.makeLink("v0")
        try await namespace.run("ip -6 route add default via fe80::1 dev v0")
        let probe = try namespace.probe("watch")
        try await probe.until("notReachable")
        // The duplicate check takes a second (RFC 4862), and the kernel reports its end.
        try await namespace.run("ip address add 2001:db8::2/64 dev v0")
        let ready = try await probe.until("ethernetOrWiFi")
        #expect(ready.link("v0").last?.contains("2001:db8::2/64") == true)
    }

    @Test func aTunnelWithTheDefaultRouteHasTheKindOfItsCarrier() async throws {
        let namespace = try await NetworkNamespace()
        try await namespace.makeLink("v0", "192.0.2.2/24")
        let probe = try namespace.probe("watch", "--metered", "v*")
        try await probe.until("notReachable")
        let tunnel = try namespace.probe("tun", "tun0")
        let made = try await tunnel.next()
        #expect(made["tun"] == "tun0")
        try await namespace.run(
            "ip link set tun0 up; ip address add 10.8.0.2/24 dev tun0; ip route add default dev tun0")
        let alone = try await probe.until("ethernetOrWiFi")
        #expect(alone["IPv4"] == "tun0/-/0" && alone.link("tun0")[1...2] == ["tunnel", "tunnel"])
        try await namespace.run("ip route add default via 192.0.2.1 metric 900")
        let carried = try await probe.until { $0.link("tun0")[2] == "ethernet" }
        #expect(carried["IPv4"] == "tun0/-/0" && carried.link("tun0")[7] == "yes")
        // The process that holds the tunnel ends, and the tunnel is removed.
        tunnel.process.closeStandardInput()
        let left = try await probe.until { $0["link.tun0"] == nil }
        #expect(left["IPv4"] == "v0/192.0.2.1/900")
    }

    @Test func tablesCountThatRulesLeadTo() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.run("ip route del default; ip route add default via 192.0.2.1 table 700")
        try await probe.until { $0["status"] == "notReachable" && $0["routes"] == "1" }
        try await namespace.run("ip rule add not fwmark 9 lookup 700 priority 100")
        try await probe.until("ethernetOrWiFi")
        try await namespace.run("ip rule del priority 100")
        try await probe.until("notReachable")
    }

    @Test func aRenamedLinkKeepsItsIndex() async throws {
        let (namespace, probe) = try await connected()
        // A link that is up can be renamed since Linux 6.2.
        try await namespace.run("ip link set v0 down; ip link set v0 name lan; ip link set lan up")
        try await namespace.run("ip route add default via 192.0.2.1")
        let renamed = try await probe.until { $0["IPv4"] == "lan/192.0.2.1/0" }
        #expect(renamed["link.v0"] == nil && renamed.link("lan").last == "192.0.2.2/24")
    }

    @Test func aFlappingLinkEndsAsItIs() async throws {
        let (namespace, probe) = try await connected()
        let flap = "ip link set v0 down; ip link set v0 up; ip route add default via 192.0.2.1 metric 100"
        try await namespace.run((0..<50).map { _ in flap }.joined(separator: "\n"))
        try await namespace.run("ip link set v0 mtu 1499")
        let last = try await probe.until { $0.link("v0")[6] == "1499" }
        #expect(last["status"] == "ethernetOrWiFi" && last["routes"] == "1")
        // At most one snapshot for each kernel message, and a few messages for each change.
        let count = try #require(last["snapshot"].flatMap { Int($0) })
        #expect(count < 50 * 6)
    }

    @Test func aRouteIsAskedForWithAndWithoutALink() async throws {
        let (namespace, probe) = try await connected()
        try await namespace.makeLink("v1", "198.51.100.2/24")
        try await namespace.run("ip address add 2001:db8::2/64 dev v1 nodad; ip link set lo up")
        let facts = try await namespace.run("cat /sys/class/net/v0/ifindex /sys/class/net/v1/ifindex")
        let (v0, v1) = (facts[0], facts[1])
        for (question, answer) in [
            ("203.0.113.1", "\(v0),192.0.2.1,192.0.2.2,out"), ("203.0.113.1 \(v0)", "\(v0),192.0.2.1,192.0.2.2,out"),
            // The kernel would treat the address as a neighbour.
            ("203.0.113.1 \(v1)", "none"), ("198.51.100.7", "\(v1),-,198.51.100.2,out"),
            ("198.51.100.7 \(v1)", "\(v1),-,198.51.100.2,out"), ("2001:db8::7", "\(v1),-,2001:db8::2,out"),
            ("2001:db8:1::7", "none"), ("2001:db8::7 \(v0)", "none"), ("198.51.100.2", "1,-,198.51.100.2,local"),
            ("127.0.0.1", "1,-,127.0.0.1,local"),
        ] {
            probe.ask("route \(question)")
            let line = try await probe.until { $0["route"] != nil }
            #expect(line["route"] == answer, "\(question)")
        }
    }

    @Test func aManagerReportsTheFirstStateAndSkipsRepeats() async throws {
        let namespace = try await NetworkNamespace()
        let probe = try namespace.probe("listen")
        let first = try await probe.next()
        #expect(first["told"] == "notReachable")
        try await namespace.makeLink("v0", "192.0.2.2/24")
        try await namespace.run("ip route add default via 192.0.2.1")
        let second = try await probe.next()
        #expect(second["told"] == "ethernetOrWiFi")
        try await namespace.run("ip address add 192.0.2.3/24 dev v0; ip link set v0 mtu 1400; ip link set v0 down")
        let third = try await probe.next()
        #expect(third["told"] == "notReachable")
        probe.ask("status")
        let status = try await probe.next()
        #expect(status["status"] == "notReachable")
    }

    @Test func aNeighbourIsReachableWithoutADefaultRouteAndOthersAreNot() async throws {
        let namespace = try await NetworkNamespace()
        try await namespace.makeLink("v0", "192.0.2.2/24")
        for (host, status) in [
            ("192.0.2.77", "ethernetOrWiFi"), ("198.51.100.1", "notReachable"), ("::1", "ethernetOrWiFi"),
        ] {
            let probe = try namespace.probe("listen", host)
            let first = try await probe.next()
            #expect(first["told"] == status, "\(host)")
        }
    }

    @Test func aNameThatWasNotFoundIsLookedUpAgainWhenTheNetworkChanges() async throws {
        let namespace = try await NetworkNamespace()
        let folder = try TemporaryFolder("names")
        try folder.write("127.0.0.1 localhost\n", to: "hosts")
        try folder.write("hosts: files\n", to: "nsswitch")
        try await namespace.run(
            "mount --bind \(folder.path("hosts")) /etc/hosts; mount --bind \(folder.path("nsswitch")) /etc/nsswitch.conf"
        )
        try await namespace.makeLink("v0", "192.0.2.2/24")
        let probe = try namespace.probe("listen", "box.example")
        try await probe.until { $0["told"] == "notReachable" }
        // The write goes into the same file, because the file is mounted.
        try await namespace.run("echo 192.0.2.50 box.example >>/etc/hosts; ip link set v0 mtu 1400")
        try await probe.until { $0["told"] == "ethernetOrWiFi" }
    }
}
