public import TransferCrypto

/// The certificates that a client shows to servers that ask for one.
public struct ClientIdentities: Sendable {
    /// The identity for hosts that have none of their own.
    public var standard: ClientIdentity?
    /// The identities by host, in lower case; IDN names in their ASCII form.
    public var byHost: [String: ClientIdentity]

    /// Creates the identities of a client.
    public init(_ standard: ClientIdentity? = nil, byHost: [String: ClientIdentity] = [:]) {
        self.standard = standard
        self.byHost = byHost
    }

    subscript(host: String) -> ClientIdentity? { byHost[host.lowercased()] ?? standard }
}
