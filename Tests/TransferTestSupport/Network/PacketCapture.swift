internal import Glibc

/// The packets that leave by one link of a namespace, from its start on (packet(7)).
public final class PacketCapture: Sendable {
    public struct Packet: Sendable, Hashable, CustomStringConvertible {
        /// The EtherType: 0x0800 is IPv4, 0x0806 ARP, 0x86DD IPv6.
        public var type: UInt16
        /// The bytes from the network header on.
        public var bytes: [UInt8]

        /// Whether the packet is a TCP reset over IPv4. The kernel sends one for each packet of a closed connection,
        /// over any link, since no bound socket remains.
        public var isReset: Bool {
            guard type == 0x0800, let first = bytes.first else { return false }
            let start = Int(first & 15) * 4
            return bytes.count > start + 13 && bytes[9] == 6 && bytes[start + 13] & 4 != 0
        }

        public var description: String {
            String(type, radix: 16) + ":" + bytes.prefix(60).map { String($0, radix: 16) }.joined(separator: " ")
        }
    }

    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    fileprivate static func start(_ link: String) throws -> PacketCapture {
        let (family, everything) = (Int32(17), UInt16(3).bigEndian)
        let descriptor = socket(
            family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), Int32(everything))
        guard descriptor >= 0 else { throw TestSupportError.system("packet socket", errno) }
        // `struct sockaddr_ll`: family, protocol, index.
        var address = [UInt8](repeating: 0, count: 20)
        withUnsafeBytes(of: UInt16(family)) { address.replaceSubrange(0..<2, with: $0) }
        withUnsafeBytes(of: everything) { address.replaceSubrange(2..<4, with: $0) }
        withUnsafeBytes(of: if_nametoindex(link)) { address.replaceSubrange(4..<8, with: $0) }
        let code = address.withUnsafeBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return EINVAL }
            return bind(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
                ? 0 : errno
        }
        guard code == 0 else {
            close(descriptor)
            throw TestSupportError.system("bind to \(link)", code)
        }
        return PacketCapture(descriptor)
    }

    /// Returns the packets that have left since the last call.
    public func sent() -> [Packet] {
        var packets: [Packet] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var address = [UInt8](repeating: 0, count: 20)
        while true {
            var size = socklen_t(address.count)
            let count = address.withUnsafeMutableBytes { bytes -> Int in
                guard let base = bytes.baseAddress else { return -1 }
                return recvfrom(
                    descriptor, &buffer, buffer.count, 0, base.assumingMemoryBound(to: sockaddr.self), &size)
            }
            guard count >= 0 else { return packets }
            let outgoing = 4
            guard Int(address[10]) == outgoing else { continue }
            packets.append(Packet(type: UInt16(address[2]) << 8 | UInt16(address[3]), bytes: Array(buffer[..<count])))
        }
    }
}

extension TestNamespace {
    public func capture(_ link: String) async throws -> PacketCapture {
        try await onThread { try PacketCapture.start(link) }
    }
}
