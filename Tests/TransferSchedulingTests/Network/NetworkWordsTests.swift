import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

@Suite struct NetworkWordsTests {
    private static let noon = at("2026-11-21 12:00")

    private func judge(
        _ members: String, _ links: [LinkView]?, used: Int64 = 0
    ) throws -> (words: NetworkText, judgement: NetworkJudgement) {
        let policy = try policy(members)
        var rules = NetworkRules(policy: policy, now: Self.noon, zone: .utc)
        rules.usage.add(used, over: .cellular, at: Self.noon, .utc)
        return (NetworkText(policy: policy, now: Self.noon, zone: .utc), rules.judge(links))
    }

    @Test func explainsTheFieldCamera() throws {
        let links = links("eth0 dead", "wwan0 paid", "wg0 over wwan0 paid")
        let (words, judgement) = try judge(#""metered": "forbid""#, links)
        #expect(judgement.rules.map(words.rule) == [#"network.metered = "forbid""#])
        #expect(
            judgement.verdicts.map { "\($0.link.name): \(words.verdict($0))" } == [
                "eth0: has a route, but 3 connections got no answer since 14:02",
                "wwan0: up, metered: refused by the rule",
                "wg0: up, runs over wwan0, so metered: refused by the rule",
            ])
        #expect(words.starts(judgement) == "when eth0 answers or an unmetered link appears")
        #expect(words.reason(judgement) == "no answer over eth0")
    }

    /// A rule, links, the reason, the event that starts the job, the rules that keep it waiting.
    private static let waits: [(String, [LinkView]?, String, String?, [NetworkKey])] = [
        (
            "", links("eth0 down no carrier", "wwan0 down no route"), "offline: eth0 no carrier, wwan0 no route",
            "when a link is usable", []
        ),
        ("", [], "offline", "when a link is usable", []),
        (#""schedule": "22:00-06:00""#, links("eth0"), "outside its schedule, until 22:00", "at 22:00", [.schedule]),
        (
            #""schedule": "Mon 22:00-06:00""#, links("eth0"), "outside its schedule, until 23 Nov 22:00",
            "at 23 Nov 22:00", [.schedule]
        ),
        (
            #""require": "wg0""#, links("eth0"), "there is no link wg0, which it requires", "when wg0 appears",
            [.require]
        ),
        (
            #""require": "home""#, links("eth0"), "there is no link home, which it requires", "when home appears",
            [.require]
        ),
        (
            #""require": "wg0""#, links("eth0", "wg0 down no route"), "wg0, which it requires, has no route",
            "when wg0 is usable", [.require]
        ),
        (
            #""require": "wg*""#, nil, "it requires wg*, and the kernel does not report the links", nil,
            [.require]
        ),
        (
            #""allow": ["ethernet"]"#, links("wlan0", "eth0 down no carrier"),
            "no link that it is allowed to use is up",
            "when an allowed link appears", [.allow]
        ),
        (
            #""metered": "forbid""#, links("wwan0 paid"), "only metered links are up", "when an unmetered link appears",
            [.metered]
        ),
        (
            #""meteredAfter": "3h""#, links("wwan0 paid"), "only metered links are up: waits for another until 15:00",
            "at 15:00, or when an unmetered link appears", [.meteredAfter]
        ),
        (
            #""meteredBudget": "500M/day""#, links("wwan0 paid"),
            "500 MiB a day over metered links are used up, until 22 Nov 00:00",
            "at 22 Nov 00:00, or when an unmetered link appears", [.meteredBudget]
        ),
        ("", links("eth0 dead", "wlan0 dead"), "no answer over eth0, wlan0", "when eth0 answers or wlan0 answers", []),
        (
            #""allow": ["wifi", "cellular"], "metered": "forbid""#, links("eth0", "wwan0 paid"),
            "only metered links are up",
            "when an allowed link appears or an unmetered link appears", [.allow, .metered]
        ),
    ]

    @Test(arguments: waits)
    func explainsTheWaitOfAJob(
        members: String, links: [LinkView]?, reason: String, starts: String?, rules: [NetworkKey]
    ) throws {
        let (words, judgement) = try judge(members, links, used: 500 << 20)
        #expect(words.reason(judgement) == reason)
        #expect(words.starts(judgement) == starts)
        #expect(judgement.rules == rules)
    }

    @Test func aJobThatMayStartWaitsForNothing() throws {
        let (words, judgement) = try judge("", links("eth0"))
        #expect(words.reason(judgement) == nil && words.starts(judgement) == nil && judgement.rules.isEmpty)
    }

    /// A rule, a link, and the sentence about the link.
    private static let verdicts: [(String, [LinkView], String)] = [
        ("", links("eth0"), "up"), ("", links("eth0 down no carrier"), "no carrier"),
        ("", links("eth0 down"), "no route"),
        (#""avoid": ["wifi"]"#, links("wlan0"), "up: used when no other is"),
        (#""avoid": ["wifi"]"#, links("wg0 over wlan0"), "up, runs over wlan0: used when no other is"),
        (#""metered": "avoid""#, links("wwan0 paid"), "up, metered: used when no other is"),
        (#""allow": ["ethernet"]"#, links("wg0 over wlan0"), "up, runs over wlan0: not allowed by the rule"),
        (#""allow": ["ethernet"]"#, links("wlan0"), "up: not allowed by the rule"),
        (#""require": "wg0""#, links("eth0"), "up, not the required wg0"),
        (#""meteredAfter": "24h""#, links("wwan0 paid"), "up, metered: not before 22 Nov 12:00 by the rule"),
        (
            #""meteredBudget": "1K/hour""#, links("wg0 over wwan0 paid"),
            "up, runs over wwan0, so metered: 1.00 KiB an hour used up, until 13:00"
        ),
    ]

    @Test(arguments: verdicts)
    func explainsTheVerdictOnALink(members: String, links: [LinkView], text: String) throws {
        let (words, judgement) = try judge(members, links, used: 500 << 20)
        #expect(judgement.verdicts.map(words.verdict) == [text])
    }

    @Test func quotesRulesAsTheyAreWritten() throws {
        let policy = try policy(
            #""allow": ["wifi", "name:lan"], "require": "wg0", "meteredBudget": "1M/day", "schedule": ["Sat", "10:00-11:00"]"#
        )
        let words = NetworkText(policy: policy, now: Self.noon, zone: .utc)
        #expect(
            [.allow, .require, .meteredBudget, .schedule].map(words.rule) == [
                #"network.allow = ["wifi","name:lan"]"#, #"network.require = "wg0""#,
                #"network.meteredBudget = "1048576/day""#,
                #"network.schedule = ["Sat 00:00-24:00","10:00-11:00"]"#,
            ])
    }
}
