extension IPAddress {
    /// Creates an address from its bytes.
    ///
    /// - Parameter bytes: The bytes in network order.
    /// - Returns: `nil` unless there are 4 or 16 bytes.
    public init?(bytes: some Collection<UInt8>) {
        // The address is built as text, the type's only initializer; an IPv6 address need not be shortened for that.
        switch bytes.count {
        case 4: self.init(bytes.map { String($0) }.joined(separator: "."))
        case 16:
            let bytes = Array(bytes)
            let groups = stride(from: 0, to: 16, by: 2).map {
                String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
            }
            self.init(groups.joined(separator: ":"))
        default: return nil
        }
    }

    /// Whether the address is valid on its link only: `fe80::/10` or `169.254.0.0/16` (RFC 4291, RFC 3927).
    public var isLinkLocal: Bool {
        isVersion6 ? bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 : bytes[0] == 169 && bytes[1] == 254
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address in the form of RFC 5952: lower case, with the longest run of zero groups left out.
    public var description: String {
        guard isVersion6 else { return bytes.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var (best, run) = (0..<0, 0)
        for (index, group) in groups.enumerated() {
            run = group == 0 ? run + 1 : 0
            if run > best.count { best = index + 1 - run..<index + 1 }
        }
        let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard best.count > 1 else { return text(groups[...]) }
        return text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
    }
}
