extension IPAddress {
    /// - Parameter bytes: In the network's order.
    /// - Returns: `nil` unless there are 4 or 16.
    public init?(bytes: some Collection<UInt8>) {
        // The text is the one door that the type has; an IPv6 address needs no shortening to pass it.
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

    /// `fe80::/10`, or `169.254.0.0/16`: of the link alone (RFC 4291, RFC 3927).
    public var isLinkLocal: Bool {
        isVersion6 ? bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 : bytes[0] == 169 && bytes[1] == 254
    }
}

extension IPAddress: CustomStringConvertible {
    /// As RFC 5952 writes it: lower case, the longest run of zero groups left out.
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
