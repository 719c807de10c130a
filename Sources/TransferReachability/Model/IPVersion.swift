public import TransferCore

/// A version of IP.
public enum IPVersion: String, Sendable, Hashable, CaseIterable {
    case v4 = "IPv4"
    case v6 = "IPv6"

    /// Creates the version of an address.
    public init(of address: IPAddress) { self = address.isVersion6 ? .v6 : .v4 }
}
