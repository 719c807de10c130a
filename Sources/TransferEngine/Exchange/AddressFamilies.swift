/// The versions of IP that the connections of a request use.
package enum AddressFamilies: String, Sendable, Hashable, CaseIterable {
    /// The versions that the routes of the machine allow.
    case any
    /// IPv4 alone.
    case v4
    /// IPv6 alone.
    case v6
}
