public import TransferCrypto

/// The certificates a client shows to servers that ask for one.
public struct ClientIdentities: Sendable {
    /// For hosts that have none of their own.
    public var standard: ClientIdentity?
    /// By host, in lower case; IDN names in their ASCII form.
    public var byHost: [String: ClientIdentity]

    public init(_ standard: ClientIdentity? = nil, byHost: [String: ClientIdentity] = [:]) {
        self.standard = standard
        self.byHost = byHost
    }

    subscript(host: String) -> ClientIdentity? { byHost[host.lowercased()] ?? standard }
}
