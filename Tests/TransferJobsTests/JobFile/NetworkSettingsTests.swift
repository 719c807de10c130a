import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The key `network` of job files.
@Suite struct NetworkSettingsTests {
    private static let whole = #"""
        "network": {"allow": ["ethernet", "name:lan", "wlan*"], "avoid": ["vpn"], "prefer": ["ethernet"],
         "require": "wg0", "metered": "avoid", "meteredBudget": "1.5G/week", "meteredAfter": "24h",
         "schedule": ["22:00-06:00", "Sat"], "x-note": 1}
        """#

    @Test func readsEveryKey() throws {
        let reading = try readJob(Self.whole)
        #expect(reading.lines == [])
        let policy = try #require(reading.jobs.first?.settings.network)
        #expect(policy.allow == [.kind(.ethernet), .name("lan"), .name("wlan*")])
        #expect(policy.avoid == [.vpn] && policy.prefer == [.kind(.ethernet)] && policy.require == .name("wg0"))
        #expect(policy.metered == .avoid && policy.meteredAfter == .seconds(86_400))
        #expect(policy.meteredBudget == .init(bytes: 3 << 29, per: .week))
        #expect(policy.schedule.windows.map(\.text) == ["22:00-06:00", "Sat 00:00-24:00"])
    }

    @Test func aJobsKeysReplaceThoseOfTheDefaultsOneByOne() throws {
        let defaults = """
            {"network": {"allow": ["wifi"], "require": "wg0", "metered": "avoid", "meteredAfter": "1h",
             "meteredBudget": "1M/day", "schedule": "22:00-06:00"}}
            """
        let same = try #require(try readJob("", defaults: defaults).jobs.first).settings.network
        #expect(same.require == .name("wg0") && same.schedule.windows.count == 1)
        let reading = try readJob(#""network": {"allow": ["ethernet"], "metered": "forbid"}"#, defaults: defaults)
        #expect(reading.lines == [])
        let other = try #require(reading.jobs.first).settings.network
        #expect(other.allow == [.kind(.ethernet)] && other.effectiveMetered == .forbid && other.require == same.require)
        let none = try readJob(
            #""network": {"allow": [], "require": "", "meteredBudget": "unlimited", "meteredAfter": 0, "schedule": [], "metered": "allow"}"#,
            defaults: defaults)
        // "allow" and an "after" in one object contradict each other; every other rule is lifted.
        #expect(none.faults.map(\.message) == [#""meteredAfter" belongs to "metered": "avoid""#])
        let lifted = try readJob(
            #""network": {"allow": [], "require": "", "meteredBudget": "unlimited", "schedule": [], "metered": "allow"}"#,
            defaults: defaults)
        var rest = NetworkPolicy()
        rest.metered = .allow
        rest.meteredAfter = .seconds(3600)
        #expect(lifted.jobs.first?.settings.network == rest)
    }

    /// Members of a job on line 2 of a document, after 36 characters, and the fault that they cause.
    private static let faults: [(String, String)] = [
        (#""network": []"#, "2:50:1 $.jobs[0].network expected an object, found an array"),
        (#""network": {"alow": []}"#, #"2:51:6 $.jobs[0].network.alow unknown key "alow"; did you mean "allow"?"#),
        (
            #""network": {"allow": "wifi"}"#,
            "2:60:6 $.jobs[0].network.allow expected an array of kinds or interfaces, found a string"
        ),
        (
            #""network": {"allow": ["wifi", "etherent"]}"#,
            #"2:69:10 $.jobs[0].network.allow[1] unknown kind "etherent"; did you mean "ethernet"? an interface of that name is written "name:etherent""#
        ),
        (
            #""network": {"avoid": ["lte"]}"#,
            #"2:61:5 $.jobs[0].network.avoid[0] unknown kind "lte"; ethernet, wifi, cellular, ppp, tunnel, wireguard, bridge, bond, vlan, macvlan, veth or vpn are possible; an interface of that name is written "name:lte""#
        ),
        (
            #""network": {"prefer": [""]}"#,
            "2:62:2 $.jobs[0].network.prefer[0] the name of an interface is empty"
        ),
        (
            #""network": {"prefer": ["eth0123456789012"]}"#,
            "2:62:18 $.jobs[0].network.prefer[0] the name of an interface has at most 15 characters"
        ),
        (
            #""network": {"require": "wg 0"}"#,
            #"2:62:6 $.jobs[0].network.require not the name of an interface: "wg 0""#
        ),
        (
            #""network": {"metered": "forbit"}"#,
            #"2:62:8 $.jobs[0].network.metered unknown value "forbit"; did you mean "forbid"?"#
        ),
        (
            #""network": {"meteredBudget": "500M"}"#,
            #"2:68:6 $.jobs[0].network.meteredBudget not an amount of bytes for a time; write "500M/day", with hour, day, week or month"#
        ),
        (
            #""network": {"metered": "forbid", "meteredBudget": "1M/day"}"#,
            #"2:89:1 $.jobs[0].network.meteredBudget "meteredBudget" does not go with "metered": "forbid""#
        ),
        (
            #""network": {"meteredAfter": "1h", "metered": "forbid"}"#,
            #"2:67:1 $.jobs[0].network.meteredAfter "meteredAfter" belongs to "metered": "avoid""#
        ),
        (
            #""network": {"schedule": ["22:00-06:00", "Mno 1:00-2:00"]}"#,
            #"2:79:15 $.jobs[0].network.schedule[1] unknown day "Mno"; did you mean "Mon"?"#
        ),
        (
            #""network": {"schedule": 1}"#,
            #"2:63:1 $.jobs[0].network.schedule expected a window of time such as "22:00-06:00", or an array of them, found a number"#
        ),
    ]

    @Test(arguments: faults)
    func reportsFaultsWithTheirPlaces(members: String, fault: String) throws {
        let reading = try readJob(members)
        #expect(reading.lines == [fault])
        #expect(reading.jobs.isEmpty)
    }

    @Test func knowsWhereEachRuleStands() throws {
        let defaults = """
            {"network": {"metered": "forbid",
                         "schedule": "22:00-06:00"}}
            """
        let reading = try readJob("\"network\": {\"allow\":\n [\"wifi\"], \"metered\": \"avoid\"}", defaults: defaults)
        let places = try #require(reading.locations.first?.network)
        #expect(places.text == "allow=4:2 metered=4:23 schedule=2:26")
        #expect(NetworkPlaces(text: places.text) == places)
        #expect(places[.schedule] == SourceSpan(line: 2, column: 26) && places[.require] == nil)
        // Defaults may stand after their jobs, and in a line of their own.
        let behind = try read(
            """
            {"version": 1, "jobs": [{"download": "http://h/f", "to": "f"}],
             "defaults": {"network": {"require": "wg0"}}}
            """)
        #expect(behind.locations.first?.network.text == "require=2:38")
        let lines = try read(
            """
            {"version": 1, "defaults": {"network": {"require": "wg0"}}}
            {"download": "http://h/f", "to": "f", "network": {"metered": "forbid"}}
            """, as: .jsonLines)
        #expect(lines.locations.first?.network.text == "require=1:52 metered=2:62")
        let none = try readJob("")
        #expect(none.locations.first?.network.isEmpty == true)
    }

    @Test func theStoreKeepsWhereTheRulesStand() throws {
        let store = try SQLiteStore()
        let header = BatchHeader(name: "b", source: "/etc/field.json", directory: "/")
        func stage(_ members: String) throws {
            let reading = try readJob(members)
            _ = try store.stage(header, StagingOptions()) { stager in
                for (spec, place) in zip(reading.jobs, reading.locations) { try stager.add(spec, at: place) }
                return true
            }
        }
        try stage(#""network": {"metered": "forbid"}"#)
        let first = try #require(try store.networkOrigin(batch: "b", job: "f"))
        #expect(first.source == "/etc/field.json" && first.places.text == "metered=2:62")
        try stage(#""priority": 1, "network": {"metered": "forbid"}"#)
        #expect(try store.networkOrigin(batch: "b", job: "f")?.places.text == "metered=2:77")
        try stage("")
        #expect(try store.networkOrigin(batch: "b", job: "f")?.places.isEmpty == true)
        #expect(try store.networkOrigin(batch: "b", job: "g") == nil)
    }

    @Test func isCodable() throws {
        let policy = try #require(try readJob(Self.whole).jobs.first).settings.network
        let data = try JSONEncoder().encode(policy)
        #expect(try JSONDecoder().decode(NetworkPolicy.self, from: data) == policy)
        // The encoded form is valid in job files.
        let reading = try readJob("\"network\": \(String(decoding: data, as: UTF8.self))")
        #expect(reading.lines == [] && reading.jobs.first?.settings.network == policy)
        #expect(String(decoding: try JSONEncoder().encode(NetworkPolicy()), as: UTF8.self) == "{}")
        for bad in [#"{"meteredBudget": "x"}"#, #"{"schedule": ["x"]}"#] {
            #expect(throws: (any Error).self) { try JSONDecoder().decode(NetworkPolicy.self, from: Data(bad.utf8)) }
        }
    }
}
