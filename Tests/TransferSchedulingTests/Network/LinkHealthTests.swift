import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

@Suite struct LinkHealthTests {
    /// A rule and a history, in seconds: `-a` no answer of host a, `+` an answer, `~` a change, `x` removed, `p` probes
    /// are taken, `c` the probe is abandoned. Then the result: `fine`, or `unanswered count, blamed or not, next probe
    /// in seconds`.
    private static let histories: [(String, String, String)] = [
        ("nothing is known", "", "fine"),
        ("two may be bad luck", "1+ 2-a 3-b", "fine"),
        ("three in a row are not", "1+ 2-a 3-a 4-b", "3 blamed 34"),
        ("an answer between", "1-a 2-b 3+ 4-a 5-b", "fine"),
        ("one silent server is no proof against a link that others answered on", "1+ 2-a 3-a 4-a", "3 free 34"),
        ("but is against one that never carried anything", "2-a 3-a 4-a", "3 blamed 34"),
        ("nor since it changed", "1+ 2~ 3-a 4-a 5-a", "3 blamed 35"),
        ("those that were under way count, and move no probe", "2-a 3-b 4-a 5-b 6-a", "5 blamed 34"),
        ("an answer, to whom ever, ends it", "2-a 3-b 4-a 20+", "fine"),
        ("a change begins the row anew", "2-a 3-b 4~ 5-a 6-b", "fine"),
        ("what was begun before the change says nothing", "2-a 3-b 10~ 11-a@9 12-a 13-b", "fine"),
        ("a change of a suspect link: probe at once", "2-a 3-b 4-a 10~", "3 blamed 10"),
        ("no probe before its time", "2-a 3-b 4-a 33p", "3 blamed 34"),
        ("while it is probed no other is due", "2-a 3-b 4-a 34p", "3 blamed -"),
        ("an unanswered probe doubles the wait", "2-a 3-b 4-a 34p 40-a", "4 blamed 100"),
        ("and again", "2-a 3-b 4-a 34p 40-a 100p 100-a", "5 blamed 220"),
        ("up to five minutes", "2-a 3-b 4-a 34p 34-a 94p 94-a 214p 214-a 454p 454-a 754p 754-a", "8 blamed 1054"),
        ("an answered probe ends it", "2-a 3-b 4-a 34p 35+", "fine"),
        ("and what comes then begins at the beginning", "2-a 3-b 4-a 34p 34-a 35+ 36-a 37-b 38-a", "3 blamed 68"),
        ("an abandoned probe is due again", "2-a 3-b 4-a 34p 36c", "3 blamed 36"),
        ("without growing the wait", "2-a 3-b 4-a 34p 36c 36p 36-a", "4 blamed 96"),
        ("a change while it is probed", "2-a 3-b 4-a 34p 36~", "3 blamed 36"),
        ("and resets the wait", "2-a 3-b 4-a 34p 34-a 40~ 40p 40-a", "5 blamed 100"),
        ("a link that goes is forgotten", "2-a 3-b 4-a 5x", "fine"),
    ]

    @Test(arguments: histories)
    func judgesALinkByItsConnections(rule: String, history: String, result: String) {
        var health = LinkHealth()
        for entry in history.split(separator: " ") {
            let digits = entry.prefix { $0.isNumber }
            let now = MonotonicTime.seconds(Double(digits) ?? 0)
            let wall = WallTime(seconds: 1000 + (Int64(digits) ?? 0))
            let rest = entry.dropFirst(digits.count)
            switch rest.first {
            case "-":
                let parts = rest.dropFirst().split(separator: "@")
                let started = parts.count > 1 ? MonotonicTime.seconds(Double(parts[1]) ?? 0) : now
                let event = LinkHealth.Event.unanswered(host: String(parts[0]), started: started)
                _ = health.event(event, of: "eth0", now: now, wall: wall)
            case "+": _ = health.event(.answered, of: "eth0", now: now, wall: wall)
            case "~": _ = health.event(.changed, of: "eth0", now: now, wall: wall)
            case "x": _ = health.event(.removed, of: "eth0", now: now, wall: wall)
            case "c": _ = health.event(.probeAbandoned, of: "eth0", now: now, wall: wall)
            default: _ = health.takeProbes(now: now)
            }
        }
        let suspicion = health.suspicion(of: "eth0").map { suspicion in
            let probe = health.nextProbe.map { "\($0.nanoseconds / 1_000_000_000)" } ?? "-"
            return "\(suspicion.unanswered) \(suspicion.isBlamed ? "blamed" : "free") \(probe)"
        }
        #expect(suspicion ?? "fine" == result, "\(rule)")
        #expect(health.suspicion(of: "wlan0") == nil)
    }

    @Test func reportsTheTimeOfTheNextStep() {
        var health = LinkHealth()
        func event(_ event: LinkHealth.Event, _ second: Double, _ link: String = "eth0") -> LinkHealth.Action {
            health.event(event, of: link, now: .seconds(second), wall: WallTime(seconds: Int64(second)))
        }
        func miss(_ second: Double, _ link: String = "eth0") -> LinkHealth.Action {
            event(.unanswered(host: "a", started: .seconds(second)), second, link)
        }
        #expect(miss(1) == .none && miss(2, "wlan0") == .none && miss(3) == .none && miss(4, "wlan0") == .none)
        #expect(miss(5) == .suspect && miss(6) == .none && miss(7, "wlan0") == .suspect)
        #expect(health.suspicion(of: "eth0")?.since == WallTime(seconds: 1))
        #expect(health.nextProbe == .seconds(35))
        let (early, both, none) = (
            health.takeProbes(now: .seconds(34)), health.takeProbes(now: .seconds(40)),
            health.takeProbes(now: .seconds(50))
        )
        #expect(early.isEmpty && both == ["eth0", "wlan0"] && none.isEmpty && health.nextProbe == nil)
        #expect(event(.answered, 51) == .trust && event(.answered, 52) == .none)
        #expect(event(.changed, 53, "wlan0") == .none && health.nextProbe == .seconds(53))
    }
}
