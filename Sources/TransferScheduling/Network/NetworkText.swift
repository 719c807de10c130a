import TransferCore
package import TransferJobs

/// The descriptions of network states for users, in events, logs and `transfer why`.
package struct NetworkText: Sendable {
    package let policy: NetworkPolicy
    package let now: WallTime
    package let zone: LocalZone

    package init(policy: NetworkPolicy, now: WallTime, zone: LocalZone) {
        self.policy = policy
        self.now = now
        self.zone = zone
    }

    /// Returns a short description of the condition that a job waits for.
    package func reason(_ judgement: NetworkJudgement) -> String? {
        guard case .wait(let wait) = judgement.decision else { return nil }
        switch wait {
        case .closed(let until): return "outside its schedule" + (until.map { ", until \(clock($0))" } ?? "")
        case .offline: return offline(judgement.verdicts.map(\.link))
        case .missing(let pattern): return "there is no link \(pattern), which it requires"
        case .down(let name):
            let why = judgement.verdicts.first { $0.link.name == name }?.link.whyNot ?? ""
            return "\(name), which it requires, has \(why.isEmpty ? "no route" : why)"
        case .unseen(let pattern):
            return "it requires \(pattern), and the kernel does not report the links"
        case .notAllowed: return "no link that it is allowed to use is up"
        case .metered: return "only metered links are up"
        case .meteredNotYet(let until): return "only metered links are up: waits for another until \(clock(until))"
        case .budget(let until): return "\(budget) over metered links are used up, until \(clock(until))"
        case .unanswered(let names): return "no answer over \(names.joined(separator: ", "))"
        }
    }

    /// Returns a text such as `offline: eth0 no carrier, wwan0 no route`.
    package func offline(_ links: [LinkView]) -> String {
        let down = links.filter { !$0.isUsable }.map { link in
            link.whyNot.isEmpty ? link.name : "\(link.name) \(link.whyNot)"
        }
        return Self.offline(down)
    }

    /// Returns a text of offline links.
    ///
    /// - Parameter links: The names of the links with their faults.
    package static func offline(_ links: [String]) -> String {
        links.isEmpty ? "offline" : "offline: \(links.joined(separator: ", "))"
    }

    /// Returns a description of the rules' verdict on a link.
    package func verdict(_ verdict: LinkVerdict) -> String {
        let link = verdict.link
        switch verdict.standing {
        case .unusable: return link.whyNot.isEmpty ? "no route" : link.whyNot
        case .refused(.notRequired): return "up, not the required \(policy.require.map { "\($0)" } ?? "link")"
        case .refused(.notAllowed): return "up\(carried(link)): not allowed by the rule"
        case .refused(.metered): return "\(metered(link)): refused by the rule"
        case .refused(.meteredNotYet(let until)):
            return "\(metered(link)): not before \(clock(until)) by the rule"
        case .refused(.budget(let until)): return "\(metered(link)): \(budget) used up, until \(clock(until))"
        case .usable(.good): return "up"
        case .usable(.avoided): return "up\(carried(link)): used when no other is"
        case .usable(.metered): return "\(metered(link)): used when no other is"
        case .usable(.suspect): return suspect(link)
        }
    }

    /// Returns the awaited event, to follow "starts": `when eth0 answers or an unmetered link appears`.
    package func starts(_ judgement: NetworkJudgement) -> String? {
        guard case .wait(let wait) = judgement.decision else { return nil }
        var events: [String] = []
        func add(_ event: String) { if !events.contains(event) { events.append(event) } }
        switch wait {
        case .closed(let until): return until.map { "at \(clock($0))" }
        case .missing(let pattern): return "when \(pattern) appears"
        case .down(let name): return "when \(name) is usable"
        case .unseen: return nil
        case .offline: add("a link is usable")
        case .notAllowed, .metered, .meteredNotYet, .budget, .unanswered: break
        }
        for verdict in judgement.verdicts {
            switch verdict.standing {
            case .usable(.suspect): add("\(verdict.link.name) answers")
            case .refused(.metered), .refused(.meteredNotYet), .refused(.budget): add("an unmetered link appears")
            case .refused(.notAllowed): add("an allowed link appears")
            case .unusable, .usable, .refused(.notRequired): break
            }
        }
        let when = events.isEmpty ? nil : "when \(Wording.alternatives(events))"
        guard let until = wait.until else { return when }
        return "at \(clock(until))" + (when.map { ", or \($0)" } ?? "")
    }

    /// Returns a rule in the form of the job file: `network.metered = "forbid"`.
    package func rule(_ key: NetworkKey) -> String { "network.\(key.rawValue) = \(policy.json(key) ?? "nothing")" }

    /// Returns the time by the local clock: `14:02`, or on another day `22 Nov 18:00`.
    package func clock(_ time: WallTime) -> String {
        let local = zone.local(time)
        let clock = Schedule.Window.clock(local.minute)
        guard local.day != zone.local(now).day else { return clock }
        let date = CivilDate.date(ofDay: local.day)
        return "\(date.day) \(Self.months[date.month - 1]) \(clock)"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private var budget: String {
        guard let budget = policy.meteredBudget else { return "the bytes" }
        let article = budget.period == .hour ? "an" : "a"
        return "\(ByteCount.format(budget.bytes)) \(article) \(budget.period.rawValue)"
    }

    private func carried(_ link: LinkView) -> String { link.carriers.last.map { ", runs over \($0.name)" } ?? "" }

    private func metered(_ link: LinkView) -> String {
        link.carriers.isEmpty ? "up, metered" : "up\(carried(link)), so metered"
    }

    private func suspect(_ link: LinkView) -> String {
        guard let suspicion = link.suspicion else { return "up" }
        let count = Wording.count(suspicion.unanswered, "connection")
        return "has a route, but \(count) got no answer since \(clock(suspicion.since))"
    }
}
