internal import Foundation
internal import Glibc

/// A tun link in the client and one in the peer. This process passes packets between them, like a VPN that uses none of
/// the other links.
public final class TestTunnel: Sendable {
    private let loop: DatagramLoop

    private init(_ ends: [Int32]) throws {
        loop = try DatagramLoop(ends) { index in
            var packet = [UInt8](repeating: 0, count: 65_536)
            let count = read(ends[index], &packet, packet.count)
            // A packet for an end that is down is lost, as on any other link.
            if count > 0 { _ = write(ends[1 - index], packet, count) }
        }
    }

    /// Makes a tun link (Linux's `Documentation/networking/tuntap.rst`). The caller must be in the namespace of the
    /// link.
    private static func makeTun(_ name: String) throws -> Int32 {
        let descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw TestSupportError.system("/dev/net/tun", errno) }
        // `struct ifreq`: the name in 16 bytes, then the flags (IFF_TUN, IFF_NO_PI).
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<min(15, name.utf8.count), with: name.utf8.prefix(15))
        withUnsafeBytes(of: UInt16(0x1001)) { request.replaceSubrange(16..<18, with: $0) }
        let setInterface: UInt = 0x4004_54CA
        let code = request.withUnsafeMutableBytes { ioctl(descriptor, setInterface, $0.baseAddress!) }
        guard code == 0 else {
            let failure = errno
            close(descriptor)
            throw TestSupportError.system("TUNSETIFF \(name)", failure)
        }
        return descriptor
    }

    fileprivate static func start(_ name: String, in network: TestNetwork) async throws -> TestTunnel {
        let near = try await network.client.onThread { try makeTun(name) }
        let far: Int32
        do {
            far = try await network.peer.onThread { try makeTun(name) }
        } catch {
            close(near)
            throw error
        }
        return try TestTunnel([near, far])
    }

    fileprivate func stop() { loop.stop() }
}

extension TestNetwork {
    /// Connects the two by a tunnel with the addresses of link `number`; both ends are up.
    public func connectTunnel(_ link: String, _ number: Int, metric: Int) async throws {
        let tunnel = try await TestTunnel.start(link, in: self)
        atEnd { tunnel.stop() }
        try await peer.ip(
            "link set \(link) addrgenmode none", "link set \(link) up", "address add 10.0.\(number).1/24 dev \(link)")
        try await client.ip(
            "link set \(link) addrgenmode none", "link set \(link) up", "address add 10.0.\(number).2/24 dev \(link)",
            "route add default dev \(link) metric \(metric)")
    }
}
