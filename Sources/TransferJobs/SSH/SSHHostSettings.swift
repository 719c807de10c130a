/// The values that ssh's configuration has for one server. Values that are `nil` stand in none of the files.
package struct SSHHostSettings: Sendable, Hashable {
    /// The real name or the address of the server.
    package var hostName: String?
    package var user: String?
    package var port: Int?
    /// The paths of private keys, the preferred one first; empty where no key is to be used.
    package var identityFiles: [String]?
    /// The files of known host keys; empty for none.
    package var knownHosts: [String]?
    /// The administrator's files of known host keys; empty for none.
    package var systemKnownHosts: [String]?
    /// Whether the agent is not to be used (`IdentityAgent none`).
    package var hasNoAgent = false

    package init() {}
}
