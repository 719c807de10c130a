import Testing
import TransferCore
import TransferQueueFixtures
import TransferWatch

@testable import TransferJobs
@testable import TransferScheduling

/// A configuration beneath job files: which value has precedence, and that no job changes its identity.
@Suite struct ConfiguredJobTests {
    private func jobs(
        _ configuration: Configuration, _ text: String, options: [(String, String)] = [],
        as format: JobFileFormat = .json
    ) throws -> [JobSpec] {
        var rules = RequestRules()
        for (key, value) in options { #expect(rules.set(key, to: value) == nil) }
        rules.configuration = configuration
        var reader = JobFileReader(format: format, rules: rules) { _ in [] }
        var jobs: [JobSpec] = []
        let report = try reader.read(Array(text.utf8)) { if case .job(let spec, _) = $0 { jobs.append(spec) } }
        #expect(report.isEmpty, "\(report)")
        return jobs
    }

    private func file(_ defaults: String, _ job: String) -> String {
        #"{"version": 1, "defaults": {\#(defaults)}, "jobs": [{\#(job)}]}"#
    }

    private let url = #""download": "https://a.example/x", "to": "x""#

    @Test func theJobIsStrongestThenOptionsThenItsFileThenTheConfiguration() throws {
        let set = try configuration(
            #""defaults": {"timeout": 1, "maxTime": 1, "connectTimeout": 1, "maxRedirects": 1}"#)
        let job = try #require(
            try jobs(
                set, file(#""timeout": 2, "maxTime": 2, "connectTimeout": 2"#, #"\#(url), "timeout": 4"#),
                options: [("timeout", "3"), ("maxTime", "3")]
            ).first)
        #expect(job.settings.timeout == .seconds(4))
        #expect(job.settings.maxTime == .seconds(3))
        #expect(job.settings.connectTimeout == .seconds(2))
        #expect(job.settings.maxRedirects == 1)
    }

    @Test func settingsOfAnOriginApplyToItsJobsOnly() throws {
        let set = try configuration(
            #""origins": {"https://a.example": {"auth": {"user": "me", "password": {"env": "P"}}}}"#)
        let own = JobSettings.Auth.basic(user: .literal("me"), password: .environment("P"))
        let mirrors = #"["https://a.example/x", "https://b.example/x"]"#
        for (job, auth) in [
            (url, own), (#""to": "x", "download": ["https://a.example/x"]"#, own),
            (#""download": "https://b.example/x", "to": "x""#, nil),
            // The password of one origin is not for the mirror elsewhere.
            (#""download": \#(mirrors), "to": "x""#, nil),
            (#""upload": "x", "to": "https://a.example/x""#, own),
        ] {
            #expect(try jobs(set, file("", job)).first?.settings.auth == auth, "\(job)")
        }
    }

    /// The arguments are every key that counts for a job's fingerprint, in every form of job file.
    @Test(arguments: [
        #""defaults": {"headers": {"X-A": "1"}}"#, #""defaults": {"headers": {"X-Own": "2"}}"#,
        #""defaults": {"s3": {"endpoint": "https://minio.lan"}}"#, #""defaults": {"ssh": {"user": "you"}}"#,
        #""defaults": {"protocol": "tus"}"#, #""defaults": {"success": [201]}"#,
        #""origins": {"*.example": {"headers": {"X-B": "3"}}}"#,
        #""defaults": {"timeout": 3, "proxy": "http://p", "tls": {"ca": "/ca.pem"}}, "limits": {"concurrency": 1}"#,
    ]) func noConfigurationMakesAnotherJob(_ text: String) throws {
        let set = try configuration(text)
        let files: [(String, JobFileFormat)] = [
            (file(#""headers": {"X-Own": "1"}"#, #""download": "https://a.example/ä b", "to": "x""#), .json),
            (file("", #""upload": "x", "to": "https://a.example/x", "id": "u""#), .json),
            (#"{\#(url), "headers": {"X-Own": "1"}}"#, .jsonLines),
            ("https://a.example/x\n  header=X-L: 1\n", .urlList),
            (
                """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="x"><url>https://a.example/x</url></file></metalink>
                """, .metalink
            ),
        ]
        for (file, format) in files {
            let plain = try jobs(Configuration(), file, as: format).map(\.spelt.fingerprint)
            #expect(try jobs(set, file, as: format).map(\.spelt.fingerprint) == plain, "\(file)")
            #expect(plain.count == 1)
        }
    }

    @Test func aWatchedFoldersJobsStayTheSame() throws {
        func fingerprint(_ configuration: Configuration) throws -> (Int64, [String]) {
            var rules = RequestRules()
            rules.configuration = configuration
            var reader = JobFileReader(format: .json, directory: "/", rules: rules) { _ in [] }
            var spec: WatchSpec?
            let text = #"{"version": 1, "watch": [{"folder": "/f", "to": "https://a.example/in/{name}"}]}"#
            _ = try reader.read(Array(text.utf8)) { if case .watch(let found, _) = $0 { spec = found } }
            let job = try WatchPlan(try #require(spec)).job(
                FileVersion(device: 0, inode: 0, size: 0, modified: 0, path: "n"), digest: nil, identity: "n")
            return (job.fingerprint, job.settings.headers.map { $0.name })
        }
        let plain = try fingerprint(Configuration())
        let set = try fingerprint(configuration(#""origins": {"a.example": {"headers": {"X-A": "1"}}}"#))
        #expect(set.0 == plain.0 && set.1 == ["X-A"] && plain.1 == [])
    }

    /// A different value in the job file itself still makes a different job.
    @Test func aJobsOwnValueStillChangesItsIdentity() throws {
        let set = try configuration(#""defaults": {"headers": {"X-A": "1"}}"#)
        let one = try jobs(set, file("", #"\#(url), "headers": {"X-Own": "1"}"#)).first?.fingerprint
        let other = try jobs(set, file("", #"\#(url), "headers": {"X-Own": "2"}"#)).first?.fingerprint
        #expect(one != other)
    }

    @Test func valuesAreShownWithTheirPlacesAndWithoutSecrets() throws {
        let set = try configuration(
            """
            "defaults": {
              "headers": {"Referer": "https://me:hunter2@a.example/?token=hunter2"},
              "retry": {"limit": 3}},
            "commands": {"mail": ["/bin/mail", "--password", "hunter2", "--token=hunter2", "-v"]}
            """)
        let entries = set.entries([
            .init("TRANSFER_TIMEOUT", key: "timeout", json: "\"5s\""),
            // Some writers of JSON escape the slashes.
            .init("TRANSFER_PROXY", key: "proxy", json: #""http:\/\/me:/hunter2@p.example:3128""#),
        ])
        let shown = Dictionary(entries.map { ($0.key, "\($0.shown) \($0.place)") }, uniquingKeysWith: { one, _ in one })
        #expect(shown["defaults.retry.limit"] == "3 file0:3")
        #expect(shown["defaults.retry.base"] == "2 built in")
        #expect(shown["defaults.timeout"] == "\"5s\" $TRANSFER_TIMEOUT")
        #expect(shown["defaults.proxy"] == "\"http://p.example:3128\" $TRANSFER_PROXY")
        #expect(shown["commands.mail"] == #"["/bin/mail", "--password", "***", "--token=***", "-v"] file0:4"#)
        #expect(!shown.values.contains { $0.contains("hunter2") }, "\(shown)")
    }

    /// Returns `key=value source` for the proxies that the environment names.
    private func shown(_ environment: [String: String], _ text: String = "", url: String? = nil) throws -> [String] {
        let set = try text.isEmpty ? Configuration() : configuration(text)
        let proxies = ProxyVariables(environment: environment)
        let entries = url.map { set.entries(for: $0, proxies: proxies) } ?? set.entries(proxies: proxies)
        return entries.filter { $0.place != .builtIn && $0.key.lowercased().contains("proxy") }
            .map { "\($0.key)=\($0.shown) \($0.place)" }
    }

    @Test func theEnvironmentsProxiesAreShownWithTheirVariables() throws {
        let set = [
            "http_proxy": "http://me:hun/ter@p.lan:1", "HTTP_PROXY": "http://cgi", "ALL_PROXY": "q.lan:2",
            "no_proxy": "a.lan, 10.0.0.0/8",
        ]
        #expect(
            try shown(set) == [
                #"environment.proxy.http="http://p.lan:1" $http_proxy"#,
                #"environment.proxy.https="http://q.lan:2" $ALL_PROXY"#,
                #"environment.noProxy="a.lan, 10.0.0.0/8" $no_proxy"#,
            ])
        let list = #"noProxy="a.lan, 10.0.0.0/8" $no_proxy"#
        #expect(try shown(set, url: "http://h/") == [#"proxy="http://p.lan:1" $http_proxy"#, list])
        #expect(try shown(set, url: "sftp://h/") == [#"proxy="http://q.lan:2" $ALL_PROXY"#, list])
        #expect(try shown(set, url: "s3://b/k") == [#"proxy="http://q.lan:2" $ALL_PROXY"#, list])
        #expect(try shown(set, url: "https://x.a.lan/") == ["proxy=null $no_proxy", list])
        #expect(try shown(["HTTPS_PROXY": "http://s"], url: "http://h/").isEmpty)
        #expect(try shown(["no_proxy": "a"]).isEmpty && shown(["http_proxy": ""]).isEmpty)
    }

    @Test(arguments: ["null", #""""#, #""http://own""#]) func aFilesProxyHidesTheEnvironments(_ value: String) throws {
        let set = ["http_proxy": "http://p", "no_proxy": "b"]
        #expect(try shown(set, #""defaults": {"proxy": \#(value)}"#) == ["defaults.proxy=\(value) file0:1"])
        let own = #""origins": {"a.lan": {"proxy": \#(value)}}"#
        #expect(try shown(set, own, url: "http://a.lan/") == ["proxy=\(value) file0:1"])
        #expect(try shown(set, own, url: "http://c.lan/").first == #"proxy="http://p" $http_proxy"#)
    }
}
