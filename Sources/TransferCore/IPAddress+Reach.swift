extension IPAddress {
    /// Whether the address belongs to the public Internet. Addresses of this machine, its links and private networks do
    /// not, nor do those that represent such an address.
    ///
    /// The blocks are those of IANA's special-purpose registries (RFC 6890), and multicast.
    public var isPublic: Bool {
        if let inner = embedded { return inner.isPublic }
        return !(isVersion6 ? Self.special6 : Self.special4).contains { $0.contains(self) }
    }

    /// The IPv4 address that an IPv6 address contains: mapped (RFC 4291), translated (RFC 6052) or tunnelled (RFC
    /// 3056).
    private var embedded: IPAddress? {
        guard isVersion6 else { return nil }
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] { return IPAddress(bytes: bytes.suffix(4)) }
        if bytes.prefix(12) == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
            return IPAddress(bytes: bytes.suffix(4))
        }
        if bytes.prefix(2) == [0x20, 0x02] { return IPAddress(bytes: bytes[2..<6]) }
        return nil
    }

    private static let special4 = blocks([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3",
    ])

    /// The reserved, local and multicast blocks, which are all but 2000::/3.
    private static let special6 = blocks([
        "::/3", "2001::/23", "2001:db8::/32", "3fff::/20", "4000::/2", "8000::/1",
    ])

    private static func blocks(_ texts: [String]) -> [CIDRBlock] { texts.compactMap { CIDRBlock($0) } }
}
