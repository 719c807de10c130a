/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable {
    /// The bytes of the address, 4 or 16, in network order.
    public let bytes: [UInt8]

    /// Parses an address.
    ///
    /// - Returns: `nil` where the text is no address; a zone (`%eth0`) is ignored.
    public init?(_ text: some StringProtocol) {
        let address = text.prefix { $0 != "%" }
        // UInt8 and UInt16 would accept a sign.
        guard !address.utf8.contains(UInt8(ascii: "+")) else { return nil }
        if address.utf8.contains(UInt8(ascii: ":")) {
            guard let bytes = Self.version6(address) else { return nil }
            self.bytes = bytes
        } else {
            let parts = address.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            guard parts.count == 4, parts.allSatisfy({ $0 != nil }) else { return nil }
            bytes = parts.compactMap { $0 }
        }
    }

    /// Whether this is an IPv6 address.
    public var isVersion6: Bool { bytes.count == 16 }
    /// Whether this is a loopback address: `127.0.0.0/8` or `::1`.
    public var isLoopback: Bool {
        isVersion6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1 : bytes[0] == 127
    }

    private static func version6(_ text: some StringProtocol) -> [UInt8]? {
        var halves: [[UInt8]] = [[]]
        var groups = text.split(separator: ":" as Character, omittingEmptySubsequences: false).map { String($0) }
        // A single colon at either end is invalid.
        guard groups.count >= 3, groups[0] != "" || groups[1] == "",
            groups[groups.count - 1] != "" || groups[groups.count - 2] == ""
        else { return nil }
        // The texts "::1" and "1::" have an empty group at one end that is only half of the gap.
        if groups.first == "", groups.count > 2, groups[1] == "" { groups.removeFirst() }
        if groups.last == "", groups.count > 1, groups[groups.count - 2] == "" { groups.removeLast() }
        for (index, group) in groups.enumerated() {
            if group.isEmpty {
                guard halves.count == 1 else { return nil }
                halves.append([])
            } else if index == groups.count - 1, group.contains("."), let quad = IPAddress(group), !quad.isVersion6 {
                halves[halves.count - 1] += quad.bytes
            } else {
                guard group.count <= 4, let value = UInt16(group, radix: 16) else { return nil }
                halves[halves.count - 1] += [UInt8(value >> 8), UInt8(value & 0xFF)]
            }
        }
        let known = halves.reduce(0) { $0 + $1.count }
        guard halves.count == 2 ? known <= 14 : known == 16 else { return nil }
        guard halves.count == 2 else { return halves[0] }
        return halves[0] + Array(repeating: 0, count: 16 - known) + halves[1]
    }
}

/// A block of addresses, such as `192.168.0.0/16`; a single address is a block of one.
public struct CIDRBlock: Sendable, Hashable {
    /// The address before the slash.
    public let address: IPAddress
    /// The number of leading bits that all addresses of the block share.
    public let prefix: Int

    /// Parses a block, or a single address; `nil` for another text.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first), parts.count <= 2 else { return nil }
        let bits = address.bytes.count * 8
        guard let prefix = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(prefix) else { return nil }
        self.address = address
        self.prefix = prefix
    }

    /// Returns whether an address belongs to the block.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        return (0..<prefix).allSatisfy { bit in
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            return (other.bytes[bit / 8] ^ address.bytes[bit / 8]) & mask == 0
        }
    }
}
