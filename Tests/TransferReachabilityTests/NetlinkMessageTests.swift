import Testing
import TransferCore

@testable import TransferReachability

@Suite("Messages of route netlink")
struct NetlinkMessageTests {
    private func message(_ bytes: [UInt8]) throws -> NetlinkMessage {
        let frames = NetlinkFrame.parse(bytes)
        try #require(frames.count == 1)
        return frames[0].message
    }

    @Test func aLinkIsReadWithItsKindAndItsRelations() throws {
        let bytes = MessageBytes.link(7, "vlan10") {
            $0.kind = "vlan"
            $0.lower = 3
            $0.master = 9
        }
        guard case .link(let link, .new) = try message(bytes) else { throw Unexpected() }
        #expect(link.index == 7 && link.name == "vlan10" && link.kind == "vlan" && link.mtu == 1500)
        #expect(link.lower == 3 && link.master == 9 && link.operation == 6 && link.flags == 0x11043)
    }

    @Test func aBridgesPortMessageIsNoLink() throws {
        let gone = try message(MessageBytes.link(7, "eth0", type: 17) { $0.family = 7 })
        #expect(gone == .other)
    }

    @Test func addressesOfBothVersionsAreRead() throws {
        for (text, prefix) in [("192.0.2.7", 24 as UInt8), ("2001:db8::7", 64)] {
            guard
                case .address(let address, .deleted) = try message(
                    MessageBytes.address(4, text, prefix: prefix, flags: 0x340, type: 21))
            else { throw Unexpected() }
            #expect(address.address == IPAddress(text) && address.prefix == Int(prefix) && address.link == 4)
            #expect(address.flags == 0x340)
        }
    }

    @Test func aTableAbove255IsReadFromItsAttribute() throws {
        guard
            case .route(let route, .new) = try message(MessageBytes.route(via: "192.0.2.1", 3, metric: 9, table: 51820))
        else { throw Unexpected() }
        #expect(route.table == 51820 && route.metric == 9 && route.isDefault)
        #expect(route.hops == [RouteMessage.Hop(link: 3, gateway: IPAddress("192.0.2.1"))])
    }

    @Test func aRouteWithSeveralWaysHasThemAll() throws {
        let bytes = MessageBytes.message(24) { body in
            body.bytes += [2, 0, 0, 0, 254, 3, 0, 1]
            body.append(UInt32(0))
            var hops = MessageBytes()
            for link in [3, 4] as [Int32] {
                hops.append(UInt16(16))
                hops.bytes += [0, 0]
                hops.append(link)
                hops.attribute(5, [192, 0, 2, UInt8(link)])
            }
            body.attribute(9, hops.bytes)
        }
        guard case .route(let route, .new) = try message(bytes) else { throw Unexpected() }
        #expect(route.hops.map(\.link) == [3, 4] && route.hops[1].gateway == IPAddress("192.0.2.4"))
    }

    @Test func theEndOfADumpHasItsErrorAndWhetherItWasInterrupted() throws {
        let bytes = MessageBytes.message(3, flags: 0x12, sequence: 5, port: 77) { $0.append(Int32(-16)) }
        let frame = try #require(NetlinkFrame.parse(bytes).first)
        #expect(frame.message == .done(16) && frame.isInterrupted && frame.isPart)
        #expect(frame.sequence == 5 && frame.port == 77)
        let refused = try message(MessageBytes.message(2) { $0.append(Int32(-95)) })
        #expect(refused == .error(95))
    }

    @Test func severalMessagesOfADatagramAreAllRead() {
        let bytes =
            MessageBytes.link(1, "a") + MessageBytes.link(2, "bcd") + MessageBytes.address(1, "192.0.2.1", prefix: 8)
        let frames = NetlinkFrame.parse(bytes)
        #expect(frames.count == 3 && !frames.contains { $0.message == .overrun })
    }

    /// A datagram that is cut at any place is parsed safely, and the missing part is reported.
    @Test func truncatedDatagramsSayThatSomethingIsMissing() {
        let whole =
            MessageBytes.link(1, "eth0") { $0.kind = "wireguard" }
            + MessageBytes.route(via: "2001:db8::1", 4, metric: 3)
            + MessageBytes.address(1, "192.0.2.1", prefix: 8)
        let ends = [0, MessageBytes.link(1, "eth0") { $0.kind = "wireguard" }.count]
        for count in 1..<whole.count where !ends.contains(count) {
            let frames = NetlinkFrame.parse(Array(whole[..<count]))
            let isBoundary = count == ends[1] + MessageBytes.route(via: "2001:db8::1", 4, metric: 3).count
            #expect(isBoundary || frames.last?.message == .overrun, "\(count) bytes")
        }
    }

    @Test func rubbishIsReadWithoutHarm() {
        // The generator is seeded, so that a failure can be reproduced.
        var generator = Rubbish(state: 20_261_121)
        let samples = [
            MessageBytes.link(1, "eth0") { $0.kind = "bond" }, MessageBytes.address(2, "2001:db8::1", prefix: 64),
            MessageBytes.route(via: "192.0.2.1", 3, metric: 1),
            MessageBytes.message(32) { $0.bytes += [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0] },
        ]
        var messages = 0
        for round in 0..<20_000 {
            var bytes = samples[round % samples.count]
            // The lengths of the message and of its attributes are altered most often.
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if round % 3 == 0 { bytes.removeLast(.random(in: 0..<bytes.count, using: &generator)) }
            var state = NetworkState()
            for frame in NetlinkFrame.parse(bytes) {
                _ = state.apply(frame)
                messages += 1
            }
            _ = state.snapshot(rule: MeteredRule(), managed: ManagedNetwork()).status
        }
        #expect(messages > 10_000)
    }
}

struct Unexpected: Error {}

/// SplitMix64.
struct Rubbish: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
