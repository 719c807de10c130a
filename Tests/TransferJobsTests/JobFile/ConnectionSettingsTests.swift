import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// The keys `proxy` and `tls`, with the secrets that they name.
@Suite struct ConnectionSettingsTests {
    @Test func readsAProxyWithCredentials() throws {
        let reading = try readJob(
            #""proxy": {"url": "http://p:3128", "user": {"env": "U"}, "password": {"file": "pw"}}, "noProxy": "a""#)
        #expect(reading.lines == [])
        let proxy = JobSettings.Proxy(
            url: "http://p:3128", noProxy: "a",
            credentials: .init(user: .environment("U"), password: .file("pw")))
        #expect(reading.jobs.first?.settings.proxy == proxy)
        let named = try readJob(#""proxy": {"url": "socks5://p", "user": "ann", "password": {"credential": "pw"}}"#)
        #expect(
            named.jobs.first?.settings.proxy?.credentials
                == .init(user: .literal("ann"), password: .credential("pw")))
    }

    @Test func aJobsProxyReplacesThatOfTheDefaultsWithItsPassword() throws {
        let defaults = #"{"proxy": {"url": "http://p", "user": "ann", "password": {"env": "P"}}, "noProxy": "a"}"#
        let same = try readJob("", defaults: defaults)
        #expect(same.jobs.first?.settings.proxy?.credentials?.password == .environment("P"))
        #expect(same.jobs.first?.settings.proxy?.noProxy == "a")
        for other in [#""http://q""#, #"{"url": "http://q"}"#] {
            let reading = try readJob(#""proxy": \#(other)"#, defaults: defaults)
            #expect(reading.jobs.first?.settings.proxy == .init(url: "http://q", noProxy: "a"))
        }
    }

    /// Without a proxy they are the exceptions from the environment's proxy, wherever they are declared.
    @Test func exceptionsApplyToAnyProxy() throws {
        for reading in [
            try readJob(#""noProxy": "a""#), try readJob("", defaults: #"{"noProxy": "a"}"#),
            try readJob(#""noProxy": "a""#, defaults: #"{"noProxy": "b"}"#),
        ] {
            #expect(reading.lines == [])
            let job = try #require(reading.jobs.first)
            #expect(job.settings.proxy == .environment(except: "a"))
            #expect(try JobSpec(canonicalJSON: job.canonicalJSON).settings.proxy == job.settings.proxy)
            #expect(job.settings.redacted == job.settings)
            #expect(job.fingerprint == (try readJob("").jobs.first?.fingerprint))
        }
        for (members, defaults) in [
            (#""proxy": "http://q", "noProxy": "a""#, "{}"), (#""noProxy": "a", "proxy": "http://q""#, "{}"),
            (#""proxy": "http://q""#, #"{"noProxy": "a"}"#), (#""noProxy": "a""#, #"{"proxy": "http://q"}"#),
        ] {
            let reading = try readJob(members, defaults: defaults)
            #expect(reading.jobs.first?.settings.proxy == .init(url: "http://q", noProxy: "a"), "\(members)")
        }
        #expect(try readJob(#""noProxy": null"#, defaults: #"{"noProxy": "a"}"#).jobs.first?.settings.proxy == nil)
    }

    @Test func readsAPassphrase() throws {
        let reading = try readJob(
            #""tls": {"cert": "c"}"#, defaults: #"{"tls": {"keyPassphrase": {"env": "P"}, "key": "k"}}"#)
        #expect(reading.lines == [])
        let tls = try #require(reading.jobs.first?.settings.tls)
        #expect(tls.cert == "c" && tls.key == "k" && tls.keyPassphrase == .environment("P"))
    }

    /// Members of a job on line 2 of a document, after 36 characters, and the fault that they cause.
    private static let faults: [(String, String)] = [
        (
            #""proxy": "http://a:b@p""#,
            "2:48:14 $.jobs[0].proxy a URL cannot carry a user or a password; \(ConnectionDecoder.proxyAdvice)"
        ),
        (
            #""proxy": {"url": "http://a:b@p"}"#,
            "2:56:14 $.jobs[0].proxy.url a URL cannot carry a user or a password; \(ConnectionDecoder.proxyAdvice)"
        ),
        (
            #""proxy": {"url": "http://p", "user": "a", "password": "b"}"#,
            "2:93:3 $.jobs[0].proxy.password a password is named, never written; \(SecretDecoder.advice)"
        ),
        (
            #""proxy": {"url": "http://p", "user": "a:b", "password": {"env": "B"}}"#,
            "2:76:5 $.jobs[0].proxy.user a user's name cannot hold a colon"
        ),
        (
            #""proxy": {"url": "http://p", "user": "a"}"#,
            #"2:48:1 $.jobs[0].proxy a proxy has both "user" and "password", or neither"#
        ),
        (
            #""proxy":   {"user": "a", "password": {"env": "B"}}"#,
            #"2:50:1 $.jobs[0].proxy "url" is missing; \#(ConnectionDecoder.proxyAdvice)"#
        ),
        (#""proxy": {"url": ""}"#, "2:56:2 $.jobs[0].proxy.url the URL is empty"),
        (#""proxy": {"ulr": "x"}"#, #"2:49:5 $.jobs[0].proxy.ulr unknown key "ulr"; did you mean "url"?"#),
        (#""proxy": 1"#, "2:48:1 $.jobs[0].proxy expected a proxy's URL or an object, found a number"),
        (
            #""tls": {"cert": "c", "keyPassphrase": "p"}"#,
            "2:77:3 $.jobs[0].tls.keyPassphrase a passphrase is named, never written; \(SecretDecoder.advice)"
        ),
        (
            #""tls": {"keyPassphrase": {"env": "P"}}"#,
            #"2:39:5 $.jobs[0].tls "keyPassphrase" needs a "cert""#
        ),
    ]

    @Test(arguments: faults)
    func reportsFaultsWithTheirCorrections(members: String, fault: String) throws {
        let reading = try readJob(members)
        #expect(reading.lines == [fault])
        #expect(reading.jobs.isEmpty)
    }
}
