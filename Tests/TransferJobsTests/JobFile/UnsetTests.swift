import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// `null` unsets a key that a weaker source has set: a file's `defaults`, or the configuration.
@Suite struct UnsetTests {
    /// A value of each key that can be unset.
    private static let values: [String: String] = [
        "checksums": #""SUMS""#, "priority": "5", "segments": "4", "compressed": "true", "ifExists": #""skip""#,
        "adopt": #""never""#, "strict": "true", "remoteTime": "false", "protocol": #""post""#,
        "headers": #"{"A": "b"}"#, "retry": #"{"limit": 3}"#, "connectTimeout": "5", "timeout": "5",
        "lowSpeed": #"{"rate": 10}"#, "maxTime": "9", "limitRate": #""1M""#, "proxy": #""http://p""#,
        "noProxy": #""a""#, "tls": #"{"ca": "c"}"#, "auth": #"{"netrc": true}"#, "cookies": #""c""#,
        "httpVersion": #""1.1""#, "maxRedirects": "3", "s3": #"{"region": "x"}"#, "ssh": #"{"agent": false}"#,
        "ftp": #"{"active": true}"#, "onFinish": #""mail""#, "network": #"{"metered": "forbid"}"#,
        "chunkSize": #""64M""#, "parallel": "3", "createFolders": "true", "inplace": "true", "ifChanged": #""fail""#,
        "success": "[201]", "metadata": #"{"a": "b"}"#, "fields": #"{"a": "b"}"#, "fileField": #""x""#,
        "tus": #"{"createWithUpload": true}"#, "worker": #"{"tags": ["eu"]}"#,
        "congestion": #""bbr""#, "background": "true",
    ]

    /// Values of the keys of objects that are merged key by key.
    private static let inner: [String: [String: String]] = [
        "retry": [
            "limit": "3", "base": "3", "scale": "2", "maxDelay": "3", "maxWait": #""1h""#, "jitter": "false",
            "statusCodes": "[503]", "methods": #"["POST"]"#,
        ],
        "lowSpeed": ["rate": "10", "time": "5"],
        "tls": ["ca": #""c""#, "cert": #""c""#, "key": #""k""#, "pins": #"["sha256/\#(pin)="]"#],
        "s3": [
            "endpoint": #""https://m""#, "region": #""r""#, "style": #""path""#, "profile": #""p""#,
            "integrity": #""md5""#, "sessionToken": #"{"env": "T"}"#,
        ],
        "ssh": [
            "config": #""c""#, "user": #""u""#, "knownHosts": #""k""#, "hostKey": #""SHA256:\#(pin)""#, "key": #""k""#,
            "agent": "false",
        ],
        "ftp": ["requireTLS": "true", "active": "true"],
        "network": [
            "allow": #"["ethernet"]"#, "avoid": #"["wwan*"]"#, "prefer": #"["wifi"]"#, "require": #""wg0""#,
            "metered": #""forbid""#, "meteredBudget": #""1M/day""#, "meteredAfter": #""1h""#,
            "schedule": #""22:00-06:00""#,
        ],
        "tus": ["checksum": #""sha1""#, "createWithUpload": "true"],
        "worker": ["tags": #"["eu"]"#],
    ]

    /// Keys that defaults cannot have alone, or not at all.
    private static let together: Set<String> = [
        "tls.keyPassphrase", "tls.insecure", "s3.accessKey", "s3.secretKey", "ssh.keyPassphrase",
    ]

    private static let pin = String(repeating: "A", count: 43)
    private static let rows = JobFields.all.rows.filter(\.isUnsettable)
    private static let sums = String(repeating: "0", count: 64) + "  f\n"

    /// Reads the first job with these members in a file with those defaults.
    private func job(_ row: JobField, _ member: String, defaults: String) throws -> Reading {
        var members = row.isOfUploadsOnly ? #""upload": "f""# : #""download": "http://h/f", "to": "f""#
        if row.isOfUploadsOnly {
            let protocols = UploadRegistry.builtIn.filter { $0.entry.keys.contains(row.key) }.map(\.rawValue)
            let name = protocols.first ?? "put"
            let url = ["s3": "s3://b/k", "ftp": "ftp://h/x", "sftp": "sftp://h/x"][name] ?? "http://h/x"
            members += #", "to": "\#(url)""#
            if row.key != "protocol" { members += #", "protocol": "\#(name)""# }
        }
        if row.key == "noProxy" { members += #", "proxy": "http://p""# }
        if !member.isEmpty { members += ", " + member }
        return try read(
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{\#(members)}]}"#, files: ["SUMS": Self.sums])
    }

    @Test func theTablesHaveEveryKey() {
        #expect(Set(Self.values.keys) == Set(Self.rows.map(\.key)))
        let members = Self.rows.flatMap { row in
            (row.about.object?.members ?? []).filter(\.isUnsettable).map { "\(row.key).\($0.key)" }
        }
        let known = Self.inner.flatMap { key, values in values.keys.map { "\(key).\($0)" } }
        #expect(Set(known).union(Self.together) == Set(members))
        // A key that each job must declare itself, or that is replaced as a whole, has no null.
        let never: Set = ["id", "download", "upload", "to", "checksum", "pieces", "size", "needs", "method", "body"]
        #expect(never.isDisjoint(with: Self.values.keys))
        #expect(Set(JobFields.all.defaults.names) == Set(Self.values.keys))
    }

    /// The environment stands behind `proxy`: a job that names no proxy would get that of the environment.
    @Test(arguments: values.keys.sorted().filter { $0 != "proxy" })
    func nullInAJobUnsetsADefault(_ key: String) throws {
        let row = try #require(JobFields.all.rows.first { $0.key == key })
        let value = try #require(Self.values[key])
        let plain = try job(row, "", defaults: "{}")
        let given = try job(row, "", defaults: #"{"\#(key)": \#(value)}"#)
        let unset = try job(row, #""\#(key)": null"#, defaults: #"{"\#(key)": \#(value)}"#)
        #expect(plain.lines == [] && given.lines == [] && unset.lines == [])
        #expect(unset.jobs.count == 1 && unset.jobs == plain.jobs)
        #expect(unset.jobs != given.jobs)
        #expect(unset.jobs.first?.fingerprint == plain.jobs.first?.fingerprint)
        // Without a value in any source null has no effect.
        #expect(try job(row, #""\#(key)": null"#, defaults: "{}").jobs == plain.jobs)
    }

    @Test(arguments: inner.keys.sorted())
    func nullInAnObjectUnsetsOneValue(_ key: String) throws {
        let row = try #require(JobFields.all.rows.first { $0.key == key })
        for (member, value) in try #require(Self.inner[key]) {
            let defaults = #"{"\#(key)": {"\#(member)": \#(value)}}"#
            let plain = try job(row, #""\#(key)": {}"#, defaults: "{}")
            let given = try job(row, #""\#(key)": {}"#, defaults: defaults)
            let unset = try job(row, #""\#(key)": {"\#(member)": null}"#, defaults: defaults)
            #expect(given.lines == [] && unset.lines == [], "\(member)")
            #expect(unset.jobs.count == 1 && unset.jobs == plain.jobs, "\(member)")
            #expect(unset.jobs != given.jobs, "\(member)")
        }
    }

    @Test func nullAmongHeadersUnsetsOneInAnyCase() throws {
        let reading = try readJob(
            #""headers": {"x-team": null, "B": "c", "None": null}"#,
            defaults: #"{"headers": {"X-Team": "a", "X-Other": "b", "B": "b"}}"#)
        #expect(reading.lines == [])
        #expect(reading.jobs.first?.settings.headers.map(\.name) == ["X-Other", "B"])
        #expect(reading.jobs.first?.settings.headers.last?.value == .literal("c"))
    }

    @Test func nullAmongNamedValuesUnsetsOne() throws {
        let reading = try read(
            #"""
            {"version": 1, "defaults": {"metadata": {"a": "1", "b": "2"}},
             "jobs": [{"upload": "f", "to": "http://h/x", "protocol": "tus", "metadata": {"a": null, "c": "3"}}]}
            """#)
        #expect(reading.lines == [])
        #expect(reading.jobs.first?.upload?.options.metadata.map(\.name) == ["b", "c"])
    }

    @Test func bothPartsOfALoginToS3AreUnsetTogether() throws {
        let defaults = #"{"s3": {"accessKey": "a", "secretKey": {"env": "S"}, "region": "r"}}"#
        let reading = try readJob(#""s3": {"accessKey": null, "secretKey": null}"#, defaults: defaults)
        #expect(reading.lines == [])
        #expect(reading.jobs.first?.settings.s3?.secretKey == nil && reading.jobs.first?.settings.s3?.region == "r")
        #expect(try readJob(#""s3": {"accessKey": null}"#, defaults: defaults).jobs.isEmpty)
    }

    @Test func nullInAWatchedFolderUnsetsADefault() throws {
        let reading = try read(
            #"""
            {"version": 1, "defaults": {"proxy": "http://p", "retry": {"limit": 3}},
             "watch": [{"folder": "/in", "to": "http://h/d/", "proxy": null, "retry": {"limit": null}}]}
            """#)
        #expect(reading.lines == [])
        var settings = JobSettings()
        settings.proxy = JobSettings.Proxy(url: "")
        #expect(reading.watches.first?.settings == settings)
    }

    @Test(arguments: ["null", #""""#]) func noProxyIsAValueOfItsOwn(_ none: String) throws {
        let plain = try readJob("")
        for reading in [
            try readJob(#""proxy": \#(none)"#), try readJob("", defaults: #"{"proxy": \#(none)}"#),
            try readJob(#""proxy": \#(none)"#, defaults: #"{"proxy": "http://p", "noProxy": "a"}"#),
        ] {
            #expect(reading.lines == [])
            #expect(reading.jobs.first?.settings.proxy?.url == "" && reading.jobs.count == 1)
            #expect(reading.jobs.first?.fingerprint == plain.jobs.first?.fingerprint)
        }
    }

    /// Returns the settings that a job begins with where there are a configuration and options as well.
    private func settings(
        _ members: String, defaults: String, configuration: String, option: (String, String)? = nil
    ) throws -> (spec: JobSpec?, plain: JobSpec?) {
        var rules = RequestRules()
        if let option { #expect(rules.set(option.0, to: option.1) == nil) }
        let text =
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{"download": "http://h/f", "to": "f"\#(members)}]}"#
        func first(_ rules: RequestRules) throws -> JobSpec? {
            var spec: JobSpec?
            var reader = JobFileReader(format: .json, rules: rules) { _ in [] }
            let report = try reader.read(Array(text.utf8)) { if case .job(let job, _) = $0 { spec = job } }
            #expect(report.isEmpty)
            return spec
        }
        let plain = try first(rules)
        rules.configuration = Configuration([
            try ConfigurationFile(Array(#"{"version": 1, \#(configuration)}"#.utf8), name: "c")
        ])
        return (try first(rules), plain)
    }

    @Test(arguments: [
        (#", "proxy": null"#, "{}", true), ("", #"{"proxy": null}"#, true), ("", "{}", false),
        (#", "proxy": null"#, #"{"proxy": "http://q"}"#, true), ("", #"{"proxy": "http://q"}"#, false),
        (#", "proxy": "http://q""#, #"{"proxy": null}"#, false),
    ])
    func nullOfAJobOrOfDefaultsIsStrongerThanTheConfiguration(
        _ members: String, _ defaults: String, _ isUnset: Bool
    ) throws {
        for configuration in [
            #""defaults": {"proxy": "http://p"}"#, #""origins": {"http://h": {"proxy": "http://p"}}"#,
        ] {
            let made = try settings(members, defaults: defaults, configuration: configuration)
            #expect((made.spec?.settings.proxy?.url == "") == isUnset, "\(configuration)")
            // The job is the same with and without the configuration.
            #expect(made.spec?.fingerprint == made.plain?.fingerprint)
        }
    }

    @Test func nullOfAJobIsStrongerThanAnOption() throws {
        let made = try settings(
            #", "retry": {"limit": null}"#, defaults: "{}", configuration: #""defaults": {"retry": {"limit": 7}}"#,
            option: ("retry", #"{"limit": 3}"#))
        #expect(made.spec?.settings.retry == RetrySettings())
    }
}
