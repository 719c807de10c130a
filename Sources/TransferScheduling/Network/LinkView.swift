package import TransferJobs

/// A link of this machine, as the network rules see it.
package struct LinkView: Sendable, Hashable {
    package var name: String
    package var kind: LinkClass
    /// The links that carry it, the nearest first, such as the modem beneath a VPN. Rules apply to these too.
    package var carriers: [Carrier] = []
    /// Whether the link has a default route, as the kernel reports.
    package var isUsable = true
    /// The reason why it is not usable, for example `no carrier`.
    package var whyNot = ""
    /// Whether its traffic is metered, by its own kind or by a link that carries it.
    package var isMetered = false
    /// The evidence against the link from its connections.
    package var suspicion: LinkHealth.Suspicion?

    package struct Carrier: Sendable, Hashable {
        package var name: String
        package var kind: LinkClass
    }

    package func matches(_ pattern: LinkPattern) -> Bool {
        pattern.matches(name: name, kind: kind)
            || carriers.contains { pattern.matches(name: $0.name, kind: $0.kind) }
    }
}
