import Foundation
import Testing
import TransferTestSupport

@testable import TransferReachability

@Suite("Kinds of links")
struct LinkKindTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var kind = ""
        var hardware: UInt16 = 1
        var facts: LinkFacts?
        var expected: LinkKind
        var testDescription: String { "\(name) \(kind) \(hardware)" }
    }

    @Test(arguments: [
        Case(name: "eth0", expected: .ethernet),
        Case(name: "enp3s0", facts: LinkFacts(), expected: .ethernet),
        Case(name: "ib0", hardware: 32, expected: .ethernet),
        Case(name: "anything", facts: LinkFacts(isWireless: true, deviceType: "wlan"), expected: .wifi),
        Case(name: "eth1", facts: LinkFacts(deviceType: "wlan"), expected: .wifi),
        Case(name: "wlp2s0", expected: .wifi),
        Case(name: "mon0", hardware: 803, expected: .wifi),
        Case(name: "eth2", facts: LinkFacts(deviceType: "wwan"), expected: .cellular),
        Case(name: "wwan0", expected: .cellular),
        Case(name: "wwp0s20u4", hardware: 65534, expected: .cellular),
        Case(name: "wwan1", kind: "wwan", hardware: 65534, expected: .cellular),
        Case(name: "rmnet_data0", hardware: 519, expected: .cellular),
        Case(name: "ppp0", hardware: 512, expected: .ppp),
        Case(name: "tun0", kind: "tun", hardware: 65534, expected: .tunnel),
        Case(name: "tun1", hardware: 65534, expected: .tunnel),
        Case(name: "tap0", kind: "tun", expected: .tunnel),
        Case(name: "gre1", hardware: 778, expected: .tunnel),
        Case(name: "sit0", kind: "sit", hardware: 776, expected: .tunnel),
        Case(name: "vx", kind: "vxlan", expected: .tunnel),
        Case(name: "wg0", kind: "wireguard", hardware: 65534, expected: .wireGuard),
        Case(name: "br0", kind: "bridge", expected: .bridge),
        Case(name: "bond0", kind: "bond", expected: .bond),
        Case(name: "eth0.10", kind: "vlan", expected: .vlan),
        Case(name: "eth0.11", facts: LinkFacts(deviceType: "vlan"), expected: .vlan),
        Case(name: "mv", kind: "macvlan", expected: .macVLAN),
        Case(name: "v0", kind: "veth", expected: .virtualEthernet),
        // Links that stand in for other kinds.
        Case(name: "wwan9", kind: "veth", expected: .cellular),
        Case(name: "wlan0", kind: "veth", expected: .wifi),
        Case(name: "v0", kind: "veth", facts: LinkFacts(isWireless: true), expected: .wifi),
        Case(name: "tun2", kind: "tun", hardware: 512, expected: .ppp),
        Case(name: "tun3", kind: "tun", hardware: 519, expected: .cellular),
        Case(name: "dummy0", kind: "dummy", expected: .dummy),
        Case(name: "lo", hardware: 772, expected: .loopback),
        Case(name: "can0", hardware: 280, expected: .other),
    ])
    func theKernelAndSysfsReportTheKind(_ row: Case) {
        let kind = LinkKind(kind: row.kind, hardware: row.hardware, facts: row.facts, name: row.name)
        #expect(kind == row.expected)
    }

    @Test func sysfsIsReadFromTheFolderThatIsNamed() throws {
        let folder = try TemporaryFolder("sysfs")
        let link = folder.path("class/net/wlan0")
        try FileManager.default.createDirectory(atPath: "\(link)/phy80211", withIntermediateDirectories: true)
        try Data("3\n".utf8).write(to: URL(fileURLWithPath: "\(link)/ifindex"))
        try Data("DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n".utf8).write(to: URL(fileURLWithPath: "\(link)/uevent"))
        let facts = LinkFacts.read(root: folder.path, name: "wlan0", index: 3)
        #expect(facts == LinkFacts(isWireless: true, deviceType: "wlan"))
        // A link of the same name in another network namespace.
        let stranger = LinkFacts.read(root: folder.path, name: "wlan0", index: 4)
        #expect(stranger == nil)
        let absent = LinkFacts.read(root: folder.path, name: "../net/wlan0", index: 3)
        #expect(absent == nil)
    }

    @Test func namesOfInterfacesMatchWildcards() {
        #expect(InterfaceName.matches("wwan0", "wwan*") && InterfaceName.matches("eth0", "eth?"))
        #expect(InterfaceName.matches("eth0", "eth[0-3]") && !InterfaceName.matches("eth4", "eth[0-3]"))
        #expect(!InterfaceName.matches("eth10", "eth?") && !InterfaceName.matches("xwwan0", "wwan*"))
        let rule = MeteredRule(metered: ["usb*", "eth0"], unmetered: ["usb1"])
        #expect(rule.metering(of: "usb0") == .yes && rule.metering(of: "usb1") == .no)
        #expect(rule.metering(of: "eth0") == .yes && rule.metering(of: "eth1") == .unknown)
    }
}
