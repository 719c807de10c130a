package import TransferJobs

/// A link of this machine, as the rules of the network look at it.
package struct LinkView: Sendable, Hashable {
    package var name: String
    package var kind: LinkClass
    /// The links that carry it, the nearest first: the modem beneath a VPN. Rules hold for these too.
    package var carriers: [Carrier] = []
    /// Whether it leads out, as far as the kernel knows.
    package var isUsable = true
    /// Why it isn't, for example `no carrier`.
    package var whyNot = ""
    /// Whether what goes over it is paid for, by itself or by what carries it.
    package var isMetered = false
    /// The evidence of its connections against it.
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
