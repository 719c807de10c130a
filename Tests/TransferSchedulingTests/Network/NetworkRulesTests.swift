import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Parses links in short notation: `eth0`, `wlan0 down no carrier`, `wwan0 paid`, `wg0 over wwan0 paid`, `eth0 suspect`
/// (other hosts answered over it), `eth0 dead`.
func links(_ texts: String...) -> [LinkView] {
    texts.map { text in
        let words = text.split(separator: " ").map(String.init)
        var link = LinkView(name: words[0], kind: kind(words[0]))
        for (index, word) in words.enumerated().dropFirst() {
            switch word {
            case "over": link.carriers = [.init(name: words[index + 1], kind: kind(words[index + 1]))]
            case "paid": link.isMetered = true
            case "down":
                link.isUsable = false
                link.whyNot = words[(index + 1)...].joined(separator: " ")
                return link
            case "suspect", "dead":
                link.suspicion = .init(
                    since: at("2026-11-21 14:02"), unanswered: 3, isBlamed: word == "dead")
            default: break
            }
        }
        return link
    }
}

private func kind(_ name: String) -> LinkClass {
    let kinds: [(String, LinkClass)] = [
        ("eth", .ethernet), ("wlan", .wifi), ("wwan", .cellular), ("wg", .wireguard), ("tun", .tunnel),
        ("lo", .loopback),
        ("br", .bridge), ("ppp", .ppp),
    ]
    return kinds.first { name.hasPrefix($0.0) }?.1 ?? .other
}

/// Parses rules as they stand in a job file.
func policy(_ members: String) throws -> NetworkPolicy {
    let reading = try readJob(#""network": {\#(members)}"#)
    #expect(reading.lines == [])
    return try #require(reading.jobs.first).settings.network
}

@Suite struct NetworkRulesTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var rule: String
        var policy: String
        var links: [LinkView]?
        var decision: NetworkDecision
        var waited = Duration.zero
        var used: Int64 = 0
        var testDescription: String { rule }

        init(
            _ rule: String, _ policy: String, _ links: [LinkView]?, _ decision: NetworkDecision,
            waited: Duration = .zero, used: Int64 = 0
        ) {
            (self.rule, self.policy, self.links, self.decision) = (rule, policy, links, decision)
            (self.waited, self.used) = (waited, used)
        }
    }

    private static let noon = at("2026-11-21 12:00")
    private static let midnight = at("2026-11-22 00:00")

    private static let plain: [Case] = [
        Case("no rule: as the kernel routes", "", links("eth0", "wlan0"), .anyLink),
        Case("no rule, no link", "", [], .wait(.offline)),
        Case("no rule, none leads out", "", links("lo", "eth0 down no carrier"), .wait(.offline)),
        Case("no rule, nothing known", "", nil, .anyLink),
        Case("loopback is no way out", "", links("lo"), .wait(.offline)),
        Case("nor one to keep connections from", #""allow": ["ethernet"]"#, links("lo", "eth0"), .anyLink),
    ]

    private static let lists: [Case] = [
        Case("allow: a kind", #""allow": ["wifi"]"#, links("eth0", "wlan0"), .use(["wlan0"], mustBind: true)),
        Case("allow: a name", #""allow": ["eth1"]"#, links("eth0", "eth1"), .use(["eth1"], mustBind: true)),
        Case(
            "allow: a wildcard", #""allow": ["eth*"]"#, links("wlan0", "eth0", "eth1"),
            .use(["eth0", "eth1"], mustBind: true)),
        Case("allow: all that there are", #""allow": ["ethernet", "wifi"]"#, links("eth0", "wlan0"), .anyLink),
        Case(
            "allow: one is forbidden and down, and may come up", #""allow": ["ethernet"]"#,
            links("eth0", "wlan0 down no carrier"), .use(["eth0"], mustBind: true)),
        Case(
            "allow: none of them is up", #""allow": ["ethernet"]"#, links("eth0 down no carrier", "wlan0"),
            .wait(.notAllowed)),
        Case(
            "allow: none at all is up", #""allow": ["ethernet"]"#, links("eth0 down x", "wlan0 down x"), .wait(.offline)
        ),
        Case(
            "allow: vpn is tunnels and WireGuard", #""allow": ["vpn"]"#, links("eth0", "wg0", "tun0"),
            .use(["wg0", "tun0"], mustBind: true)),
        Case(
            "allow: a tunnel is what carries it", #""allow": ["ethernet"]"#, links("wlan0", "wg0 over eth0"),
            .use(["wg0"], mustBind: true)),
        Case(
            "allow: and is itself", #""allow": ["wg0"]"#, links("eth0", "wg0 over wwan0"), .use(["wg0"], mustBind: true)
        ),
        Case("allow: nothing known", #""allow": ["wifi"]"#, nil, .anyLink),
        Case("avoid: the other", #""avoid": ["wifi"]"#, links("wlan0", "eth0"), .use(["eth0"], mustBind: false)),
        Case("avoid: no other", #""avoid": ["wifi"]"#, links("wlan0", "eth0 down no carrier"), .anyLink),
        Case(
            "avoid: what carries a tunnel", #""avoid": ["wwan*"]"#, links("wg0 over wwan0", "eth0"),
            .use(["eth0"], mustBind: false)),
        Case(
            "prefer: in its order, then the kernel's", #""prefer": ["wwan*", "wifi"]"#,
            links("eth0", "eth1", "wlan0", "wwan0"), .use(["wwan0", "wlan0", "eth0", "eth1"], mustBind: false)),
        Case("prefer: nothing of it is there", #""prefer": ["wifi"]"#, links("eth0", "eth1"), .anyLink),
        Case("prefer: one is the only one", #""prefer": ["wifi"]"#, links("wlan0"), .anyLink),
        Case(
            "prefer does not lift avoid", #""prefer": ["wifi"], "avoid": ["wlan0"]"#, links("wlan0", "wlan1", "eth0"),
            .use(["wlan1", "eth0"], mustBind: false)),
        Case(
            "prefer with allow", #""prefer": ["wifi"], "allow": ["wifi", "ethernet"]"#,
            links("eth0", "wlan0", "wwan0"), .use(["wlan0", "eth0"], mustBind: true)),
    ]

    private static let required: [Case] = [
        Case(
            "require: it and no other", #""require": "wg0""#, links("eth0", "wg0 over eth0"),
            .use(["wg0"], mustBind: true)),
        Case(
            "require: bound even where there is no other", #""require": "wg0""#, links("wg0"),
            .use(["wg0"], mustBind: true)),
        Case("require: not there", #""require": "wg0""#, links("eth0"), .wait(.missing(.name("wg0")))),
        Case("require: not there, nor any other", #""require": "wg0""#, [], .wait(.missing(.name("wg0")))),
        Case("require: down", #""require": "wg0""#, links("eth0", "wg0 down no route"), .wait(.down("wg0"))),
        Case("require: bound blindly", #""require": "wg0""#, nil, .use(["wg0"], mustBind: true)),
        Case(
            "require: of those that match", #""require": "wg*""#, links("eth0", "wg0 down x", "wg1"),
            .use(["wg1"], mustBind: true)),
        Case("require: a pattern binds to nothing blindly", #""require": "wg*""#, nil, .wait(.unseen(.name("wg*")))),
        Case("require: a kind", #""require": "wireguard""#, links("eth0", "wg0"), .use(["wg0"], mustBind: true)),
        Case("require: a name like a word", #""require": "home""#, links("eth0"), .wait(.missing(.name("home")))),
        Case(
            "require: the modem is not the tunnel over it", #""require": "wwan0""#, links("wg0 over wwan0", "wwan0"),
            .use(["wwan0"], mustBind: true)),
        Case(
            "require: suspect, it is still the only one", #""require": "wg0""#, links("eth0", "wg0 suspect"),
            .use(["wg0"], mustBind: true)),
        Case("require: dead", #""require": "wg0""#, links("eth0", "wg0 dead"), .wait(.unanswered(["wg0"]))),
        Case(
            "require does not lift forbid", #""require": "wg0", "metered": "forbid""#,
            links("eth0", "wg0 over wwan0 paid"), .wait(.metered)),
        Case(
            "nor allow", #""require": "wg0", "allow": ["ethernet"]"#, links("eth0", "wg0 over wlan0"),
            .wait(.notAllowed)),
    ]

    private static let metered: [Case] = [
        Case("forbid: the other", #""metered": "forbid""#, links("wwan0 paid", "eth0"), .use(["eth0"], mustBind: true)),
        Case("forbid: none other", #""metered": "forbid""#, links("wwan0 paid", "eth0 down x"), .wait(.metered)),
        Case("forbid: there is none to forbid", #""metered": "forbid""#, links("eth0", "wlan0"), .anyLink),
        Case("forbid: a tunnel over one", #""metered": "forbid""#, links("wg0 over wwan0 paid"), .wait(.metered)),
        Case("forbid: nothing known", #""metered": "forbid""#, nil, .anyLink),
        Case("allow: as any", #""metered": "allow""#, links("wwan0 paid", "eth0"), .anyLink),
        Case("avoid: the other", #""metered": "avoid""#, links("wwan0 paid", "eth0"), .use(["eth0"], mustBind: false)),
        Case("avoid: at once without an other", #""metered": "avoid""#, links("wwan0 paid"), .anyLink),
        Case(
            "avoid: an avoided one rather", #""metered": "avoid", "avoid": ["wifi"]"#, links("wwan0 paid", "wlan0"),
            .use(["wlan0"], mustBind: false)),
        Case(
            "after: waits", #""meteredAfter": "2h""#, links("wwan0 paid"),
            .wait(.meteredNotYet(until: at("2026-11-21 13:30"))), waited: .seconds(1800)),
        Case(
            "after: not a second longer", #""metered": "avoid", "meteredAfter": "2h""#, links("wwan0 paid"), .anyLink,
            waited: .seconds(7200)),
        Case(
            "after: bound to the other till then", #""meteredAfter": "2h""#, links("wwan0 paid", "eth0"),
            .use(["eth0"], mustBind: true)),
        Case(
            "after: the other, also then", #""meteredAfter": "2h""#, links("wwan0 paid", "eth0"),
            .use(["eth0"], mustBind: false), waited: .seconds(7200)),
        Case("budget: not used up", #""meteredBudget": "1M/day""#, links("wwan0 paid"), .anyLink, used: 1 << 20 - 1),
        Case(
            "budget: used up", #""meteredBudget": "1M/day""#, links("wwan0 paid"), .wait(.budget(until: midnight)),
            used: 1 << 20),
        Case(
            "budget: the other needs none", #""meteredBudget": "1M/day""#, links("wwan0 paid", "eth0"),
            .use(["eth0"], mustBind: true), used: 1 << 20),
        Case(
            "budget: of the hour", #""meteredBudget": "1M/hour""#, links("wwan0 paid"),
            .wait(.budget(until: at("2026-11-21 13:00"))), used: 1 << 20),
        Case(
            "budget: holds when the wait is over", #""meteredAfter": "2h", "meteredBudget": "1M/day""#,
            links("wwan0 paid"), .wait(.budget(until: midnight)), waited: .seconds(7200), used: 1 << 20),
    ]

    private static let health: [Case] = [
        Case("suspect: the other", "", links("eth0 suspect", "wlan0"), .use(["wlan0"], mustBind: false)),
        Case(
            "suspect: an avoided one rather", #""avoid": ["wifi"]"#, links("eth0 suspect", "wlan0"),
            .use(["wlan0"], mustBind: false)),
        Case("suspect: no other, and others were answered", "", links("eth0 suspect"), .anyLink),
        Case("dead: no other", "", links("eth0 dead"), .wait(.unanswered(["eth0"]))),
        Case("dead: the suspect rather", "", links("eth0 dead", "wlan0 suspect"), .use(["wlan0"], mustBind: false)),
        Case("dead: all", "", links("eth0 dead", "wlan0 dead"), .wait(.unanswered(["eth0", "wlan0"]))),
        Case(
            "dead: the other is forbidden", #""metered": "forbid""#, links("eth0 dead", "wwan0 paid"),
            .wait(.unanswered(["eth0"]))),
        Case(
            "suspect: the other is not due yet", #""meteredAfter": "1h""#, links("eth0 suspect", "wwan0 paid"),
            .use(["eth0"], mustBind: true)),
        Case(
            "suspect: the other is due", #""meteredAfter": "1h""#, links("eth0 suspect", "wwan0 paid"),
            .use(["wwan0"], mustBind: false), waited: .seconds(3600)),
    ]

    private static let schedules: [Case] = [
        Case("open", #""schedule": "10:00-14:00""#, links("eth0"), .anyLink),
        Case("closed", #""schedule": "22:00-06:00""#, links("eth0"), .wait(.closed(until: at("2026-11-21 22:00")))),
        Case(
            "closed, though nothing is known", #""schedule": "22:00-06:00""#, nil,
            .wait(.closed(until: at("2026-11-21 22:00")))),
        Case(
            "open, and another rule holds", #""schedule": "10:00-14:00", "metered": "forbid""#, links("wwan0 paid"),
            .wait(.metered)),
    ]

    @Test(arguments: plain + lists + required + metered + health + schedules)
    private func choosesLinksByTheRules(example: Case) throws {
        var rules = NetworkRules(policy: try policy(example.policy), now: Self.noon, zone: .utc)
        rules.waited = example.waited
        rules.usage.add(example.used, over: .cellular, at: Self.noon, .utc)
        let judgement = rules.judge(example.links)
        #expect(judgement.decision == example.decision, "\(example.rule)")
    }

    /// A forbidden link is never used, for any rules and links, and only usable links are.
    @Test func neverUsesAForbiddenLink() throws {
        var random = SplitMix64(state: 5)
        let names = ["eth0", "eth1", "wlan0", "wwan0 paid", "wg0 over wwan0 paid", "wg1 over eth0", "lo"]
        let states = ["", " suspect", " dead", " down x"]
        let policies = [
            "", #""allow": ["ethernet"]"#, #""avoid": ["wifi"]"#, #""require": "wg0""#, #""metered": "forbid""#,
            #""prefer": ["wwan*"], "allow": ["vpn", "wifi"]"#, #""meteredAfter": "1h", "avoid": ["eth0"]"#,
            #""require": "vpn", "metered": "forbid""#, #""meteredBudget": "1/day""#,
        ]
        let parsed = try policies.map(policy)
        for _ in 0..<5000 {
            let policy = parsed.randomElement(using: &random) ?? NetworkPolicy()
            let present = names.filter { _ in Bool.random(using: &random) }
                .flatMap { links($0 + (states.randomElement(using: &random) ?? "")) }
            var rules = NetworkRules(policy: policy, now: Self.noon, zone: .utc)
            rules.usage.add(Bool.random(using: &random) ? 1 : 0, over: .cellular, at: Self.noon, .utc)
            rules.waited = Bool.random(using: &random) ? .zero : .seconds(3600)
            let judgement = rules.judge(present)
            let forbidden = judgement.verdicts.filter { if case .refused = $0.standing { true } else { false } }
            let usable = judgement.verdicts.filter { if case .usable = $0.standing { true } else { false } }
            switch judgement.decision {
            case .anyLink: #expect(forbidden.isEmpty && !usable.isEmpty && policy.require == nil)
            case .use(let names, let mustBind):
                #expect(!names.isEmpty && Set(names).isSubset(of: usable.map(\.link.name)))
                #expect(mustBind || forbidden.isEmpty)
            case .wait(.unanswered): #expect(usable.allSatisfy { $0.link.suspicion?.isBlamed == true })
            case .wait: #expect(usable.isEmpty)
            }
        }
    }
}
