import Testing
import TransferCore
import TransferQueueFixtures
import TransferWatch

@testable import TransferJobs
@testable import TransferScheduling

/// Decodes a stack of configuration files, the weakest first, and adds the version to each.
func configuration(_ files: String...) throws -> Configuration {
    Configuration(
        try files.enumerated().map { number, text in
            try ConfigurationFile(Array(#"{"version": 1, \#(text)}"#.utf8), name: "file\(number)")
        })
}

/// Returns the messages of a file's faults, in order.
private func faults(_ text: String) -> [String] {
    do throws(ConfigurationFile.Faults) {
        _ = try ConfigurationFile(Array(text.utf8), name: "c")
        return []
    } catch {
        return error.report.faults.map { "\($0.span.line):\($0.span.column) \($0.path) \($0.message)" }
    }
}

/// The precedence of configuration files over each other, and of job files over them.
@Suite struct ConfigurationTests {
    struct Layers: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var files: [String]
        var url = "https://cdn.example/x"
        /// The settings in effect, as `key=value`.
        var holds: [String]
    }

    static let tables: [Layers] = [
        Layers(
            testDescription: "the stronger file's value",
            files: [#""defaults": {"timeout": 1}"#, #""defaults": {"timeout": 2}"#],
            holds: ["timeout=2"]),
        Layers(
            testDescription: "objects merge",
            files: [#""defaults": {"retry": {"limit": 1, "base": 3}}"#, #""defaults": {"retry": {"limit": 2}}"#],
            holds: ["retry.base=3", "retry.limit=2"]),
        Layers(
            testDescription: "lists replace",
            files: [
                #""defaults": {"network": {"avoid": ["eth0", "wwan*"]}}"#,
                #""defaults": {"network": {"avoid": ["eth1"]}}"#,
            ], holds: [#"network.avoid=["eth1"]"#]),
        Layers(
            testDescription: "null unsets a value",
            files: [#""defaults": {"timeout": 1, "maxTime": 3}"#, #""defaults": {"timeout": null}"#],
            holds: ["maxTime=3"]),
        Layers(
            testDescription: "null unsets one of an object",
            files: [#""defaults": {"retry": {"limit": 1, "base": 3}}"#, #""defaults": {"retry": {"limit": null}}"#],
            holds: ["retry.base=3"]),
        Layers(
            testDescription: "null unsets an object",
            files: [#""defaults": {"retry": {"limit": 1}, "timeout": 1}"#, #""defaults": {"retry": null}"#],
            holds: ["timeout=1"]),
        Layers(
            testDescription: "header fields are the same in whatever case",
            files: [
                #""defaults": {"headers": {"X-Team": "a", "X-B": "b"}}"#, #""defaults": {"headers": {"x-team": "c"}}"#,
            ], holds: [#"headers.X-B="b""#, #"headers.x-team="c""#]),
        Layers(
            testDescription: "a login is one value",
            files: [
                #""defaults": {"auth": {"user": "me", "password": {"env": "P"}}}"#,
                #""defaults": {"auth": {"bearer": {"env": "T"}}}"#,
            ], holds: [#"auth={"bearer": {"env": "T"}}"#]),
        Layers(
            testDescription: "an origin beats the defaults of its file",
            files: [#""defaults": {"proxy": "http://p"}, "origins": {"https://cdn.example": {"proxy": ""}}"#],
            holds: [#"proxy="""#]),
        Layers(
            testDescription: "the longest origin beats shorter ones, in whatever order",
            files: [
                #""origins": {"https://cdn.example": {"timeout": 3}, "*.example": {"timeout": 2, "maxTime": 9}}"#
            ], holds: ["maxTime=9", "timeout=3"]),
        Layers(
            testDescription: "a stronger file's defaults beat a weaker one's origin",
            files: [#""origins": {"https://cdn.example": {"timeout": 3}}"#, #""defaults": {"timeout": 1}"#],
            holds: ["timeout=1"]),
        Layers(
            testDescription: "null in an origin unsets the defaults",
            files: [#""defaults": {"timeout": 1}, "origins": {"*.example": {"timeout": null}}"#], holds: []),
        Layers(
            testDescription: "no proxy is a value",
            files: [#""defaults": {"proxy": "http://p"}, "origins": {"*.example": {"proxy": null}}"#],
            holds: ["proxy=null"]),
        Layers(
            testDescription: "a server may be called as a key is",
            files: [#""origins": {"proxy": {"timeout": 3}, "http://auth": {"timeout": 4}}"#], url: "http://proxy/x",
            holds: ["timeout=3"]),
        Layers(
            testDescription: "null unsets an origin of a weaker file, and nothing else",
            files: [
                #""defaults": {"timeout": 1}, "origins": {"*.example": {"timeout": 2}}"#,
                #""origins": {"*.example": null}"#,
            ], holds: ["timeout=1"]),
        Layers(
            testDescription: "another origin says nothing",
            files: [#""origins": {"https://cdn.example:8443": {"timeout": 3}, "http://cdn.example": {"timeout": 4}}"#],
            holds: []),
        Layers(
            testDescription: "a bucket", files: [#""origins": {"s3://archive": {"s3": {"profile": "ops"}}}"#],
            url: "s3://archive/a/b", holds: [#"s3.profile="ops""#]),
    ]

    @Test(arguments: tables) func filesAreMergedByPrecedence(_ layers: Layers) throws {
        let files = try layers.files.enumerated().map { number, text in
            try ConfigurationFile(Array(#"{"version": 1, \#(text)}"#.utf8), name: "file\(number)")
        }
        let configuration = Configuration(files)
        let entries = configuration.rules(of: configuration.sections(for: [layers.url])).entries()
        #expect(entries.map { "\($0.key)=\($0.shown)" }.sorted() == layers.holds)
    }

    @Test(arguments: [
        ("https://cdn.example", "https://cdn.example/a", true),
        ("https://cdn.example", "https://cdn.example:443/", true),
        ("https://cdn.example", "http://cdn.example/a", false), ("https://CDN.example/", "https://cdn.EXAMPLE/a", true),
        ("https://cdn.example", "https://cdn.example.evil/a", false), ("*.lan", "ftp://nas.lan/a", true),
        ("*.lan", "https://a.b.lan:81/", true), ("*.lan", "https://lan/", false),
        ("*.lan", "https://lan.example/", false),
        ("nas.lan:8080", "http://nas.lan:8080/", true), ("nas.lan:8080", "http://nas.lan/", false),
        ("cam-*.lan", "http://cam-7.lan/", true), ("sftp://host", "sftp://host:22/x", true),
        ("s3://archive", "s3://archive/k", true), ("s3://archive", "s3://archive2/k", false),
        ("bücher.example", "https://xn--bcher-kva.example/", true),
        ("https://[::1]:8080", "https://[::1]:8080/a", true),
        ("https://a.example", "https://a.example@evil.example/", false),
    ]) func anOriginStandsForItsURLs(pattern: String, url: String, matches: Bool) throws {
        #expect(try #require(OriginPattern(pattern)).matches(url: url) == matches)
    }

    /// A fault is reported with its place.
    @Test(arguments: [
        (#"{"version": 1, "proxy": "http://p"}"#, #"1:16 $.proxy "proxy" belongs to "defaults""#),
        (#"{"version": 1, "defautls": {}}"#, #"1:16 $.defautls unknown key "defautls"; did you mean "defaults"?"#),
        (#"{"defaults": {}}"#, #"1:1 $ "version" is missing; write "version": 1"#),
        (
            #"{"version": 1, "defaults": {"timeuot": 1}}"#,
            #"1:29 $.defaults.timeuot unknown key "timeuot"; did you mean "timeout"?"#
        ),
        (
            "{\"version\": 1,\n \"limits\": {\"concurency\": 1}}",
            #"2:13 $.limits.concurency unknown key "concurency"; did you mean "concurrency"?"#
        ),
        (#"{"version": 1, "jobs": []}"#, #"1:16 $.jobs "jobs" belongs to a job file"#),
        (
            #"{"version": 1, "links": {"eth1": {"metred": true}}}"#,
            #"1:35 $.links.eth1.metred unknown key "metred"; did you mean "metered"?"#
        ),
        (
            #"{"version": 1, "commands": {"mail": ["mail"]}}"#,
            #"1:38 $.commands.mail[0] a program is named by its whole path, such as "/usr/local/bin/mail""#
        ),
        (#"{"version": 1, "commands": {"mail": []}}"#, "1:37 $.commands.mail the program is missing"),
        (
            #"{"version": 1, "defaults": {"tls": {"ca": "ca.pem"}}}"#,
            "1:43 $.defaults.tls.ca a configuration holds in every folder: write the whole path, from / on"
        ),
        (#"[1]"#, "1:1 $ expected an object, found an array"),
    ]) func aFaultHasItsPlace(text: String, fault: String) { #expect(faults(text) == [fault]) }

    @Test(arguments: [
        (#""defaults": {"auth": {"user": "me", "password": "hunter2"}}"#, "a password is named, never written"),
        (#""defaults": {"headers": {"Authorization": "Bearer hunter2"}}"#, "a secret is named, never written"),
        (#""defaults": {"proxy": "http://me:hunter2@p:1"}"#, "a URL cannot carry a user or a password"),
        (#""origins": {"https://me:hunter2@a.example": {}}"#, "an origin has no user"),
        (#""serve": {"secret": "hunter2"}"#, "a secret is named, never written"),
        (#""serve": {"token": "hunter2"}"#, "unknown key"), (#""queue": {"token": "hunter2"}"#, "a secret is named"),
        (#""serve": {"directory": "files"}"#, "write the whole path"),
        (#""serve": {"allowOrigin": ["*"]}"#, "an origin is SCHEME://HOST[:PORT], or null"),
        (#""serve": {"allowSecret": {"cdn": ["x y"]}}"#, "a server is an origin"),
        (#""defaults": {"tls": {"insecure": true}}"#, #""insecure" is for single servers"#),
        (#""origins": {"*.lan": {"tls": {"insecure": true}}}"#, #""insecure" is for single servers"#),
        (#""origins": {"https://a/b": {}}"#, "an origin has no path"),
        (#""origins": {"gopher://a": {}}"#, "unsupported scheme"),
        (#""origins": {"s3://b": {"perHost": 1}}"#, "transfers are counted by server"),
        (#""origins": {"a.lan": {"perHost": 0}}"#, "0 is out of range"),
        (#""origins": {"a.lan": {"perHost": "many"}}"#, #"expected a number or "auto""#),
        (#""origins": {"a.lan": {"concurrency": 1}}"#, #"belongs to "limits" of the whole file"#),
        (#""origins": {"a.lan": {"requestRate": 1}}"#, #"belongs to the section's own "limits""#),
        (#""origins": {"a.lan": {"limits": {"requestRate": "20/d"}}}"#, "not a rate of requests"),
        (#""origins": {"s3://b": {"limits": {"requestRate": 1}}}"#, #"write "requestRate" beneath that of the bucket"#),
        (#""defaults": {"checksums": "/SUMS"}"#, #""checksums" belongs to a job"#),
        (#""serve": []"#, "expected an object"), (#""metrics": {"fil": "/a.prom"}"#, #""file""#),
        (#""metrics": {"file": "a.prom"}"#, "a file of metrics is named by its whole path"),
        (#""metrics": {"file": "/a.txt"}"#, "the name ends in .prom"), (#""metrics": {"file": "/.prom"}"#, ".prom"),
        (#""metrics": {"file": 1}"#, "expected a string"),
    ]) func anInvalidValueIsRefused(text: String, reason: String) {
        let found = faults(#"{"version": 1, \#(text)}"#)
        #expect(found.count == 1 && found[0].contains(reason), "\(found)")
        let report = try? #require(throws: ConfigurationFile.Faults.self) {
            try ConfigurationFile(Array(#"{"version": 1, \#(text)}"#.utf8), name: "c")
        }
        #expect(report?.report.rendered(file: "c").contains("hunter2") == false)
    }

    @Test func commandsLinksAndLimitsAreGiven() throws {
        let configuration = try configuration(
            #""commands": {"mail": ["/bin/mail", "-s", "a b"], "old": ["/bin/old"]}, "links": {"eth1": {"metered": true}}"#,
            #""commands": {"old": null}, "links": {"wwan*": {"metered": false}, "eth1": {"metered": true}}"#)
        #expect(configuration.commands == ["mail": ["/bin/mail", "-s", "a b"]])
        #expect(configuration.meteredLinks == ["eth1": true, "wwan*": false])
        let limits = try self.limits()
        #expect(limits.concurrency == 8 && limits.limitRate == 50 << 20 && limits.perHost == nil)
        #expect(limits.origins.map(\.pattern.text) == ["https://cdn.example", "*.example"])
        #expect(limits.origins.map(\.perHost) == [4, 2])
    }

    @Test func theStrongestFileNamesTheFileOfMetrics() throws {
        #expect(Configuration().metricsFile == nil)
        let set = #""metrics": {"file": "/a.prom", "x-why": 1}"#
        #expect(try configuration(set, #""metrics": {}"#).metricsFile == "/a.prom")
        #expect(try configuration(set, #""metrics": {"file": "/b.prom"}"#).metricsFile == "/b.prom")
        #expect(try configuration(set, #""metrics": {"file": null}"#).metricsFile == nil)
        #expect(try configuration(set).entries().first { $0.key == "metrics.file" }?.shown == #""/a.prom""#)
    }

    @Test func anOriginsRateOfStartsIsRead() throws {
        let limits = try configuration(
            #""origins": {"*.lan": {"limits": {"requestRate": "100/m"}}, "host.lan": {"limits": {"requestRate": 2}}}"#,
            #""origins": {"b.lan": {"limits": {"requestRate": null}}}"#
        ).limits
        #expect(limits.origins.map(\.pattern.text) == ["host.lan", "*.lan"])
        #expect(limits.origins.map(\.requestRate) == [2, 100.0 / 60])
    }

    @Test func autoIsWrittenLikeANumber() throws {
        let limits = try configuration(
            #""limits": {"perHost": 4}, "origins": {"a.lan": {"perHost": "auto"}}"#, #""limits": {"perHost": "auto"}"#
        ).limits
        #expect(limits.perHost == .automatic && limits.origins.map(\.perHost) == [.automatic])
        #expect(try self.limits().perHost == nil, "nothing is said")
    }

    private func limits() throws -> BatchLimits {
        try configuration(
            #""limits": {"concurrency": 4, "limitRate": "50M"}, "origins": {"*.example": {"perHost": 2}}"#,
            #""limits": {"concurrency": 8}, "origins": {"https://cdn.example": {"limits": {"perHost": 4, "limitRate": "1M"}}}"#
        ).limits
    }

    @Test func anOriginHasItsOwnPlaces() throws {
        let now = MonotonicTime.seconds(1)
        for (origin, count) in [("https://cdn.example", 4), ("https://b.example", 2), ("https://other.test", 8)] {
            var scheduler = Scheduler(limits: .init(try limits()), now: now)
            let lane = Lane(batch: 1, origin: origin)
            scheduler.claimed(lane, (1...20).map { .init(id: $0, lane: lane, priority: 0) }, asked: 256)
            let started = scheduler.decide(now: now).count { if case .start = $0 { true } else { false } }
            #expect(started == count, "\(origin)")
        }
    }
}
