/// A link of this machine, as the rules of the network look at it.
struct LinkView: Sendable, Hashable {
    var name: String
    var kind: LinkClass
    /// What carries it, the nearest first: the modem beneath a VPN. Rules hold for these too.
    var carriers: [Carrier] = []
    /// Whether it leads out, as far as the kernel knows.
    var isUsable = true
    /// Why it isn't, for example `no carrier`.
    var whyNot = ""
    /// Whether what goes over it is paid for, by itself or by what carries it.
    var isMetered = false
    /// What its connections say against it.
    var suspicion: LinkHealth.Suspicion?

    struct Carrier: Sendable, Hashable {
        var name: String
        var kind: LinkClass
    }

    func matches(_ pattern: LinkPattern) -> Bool {
        pattern.matches(name: name, kind: kind)
            || carriers.contains { pattern.matches(name: $0.name, kind: $0.kind) }
    }
}
