import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// The precedence of rules for the connection to a webhook.
@Suite struct WebhookRulesTests {
    private static let url = "https://hooks.example/in"

    private func rules(_ text: String) throws -> WebhookRules {
        WebhookRules(
            Configuration([try ConfigurationFile(Array(#"{"version": 1, \#(text)}"#.utf8), name: "config.json")]))
    }

    private static let file = #"""
        "defaults": {"proxy": "http://all.lan:1", "timeout": "9s", "retry": {"limit": 3}, "tls": {"ca": "/all.pem"},
            "auth": {"user": "all", "password": {"env": "A"}}, "headers": {"X-All": "1"}},
        "origins": {"https://hooks.example": {"proxy": "http://hooks.lan:1", "headers": {"X-Hook": "1"},
            "auth": {"bearer": {"env": "H"}}, "tls": {"pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}},
            "https://files.example": {"proxy": "http://files.lan:1", "tls": {"ca": "/files.pem"}}}
        """#

    @Test func theSectionOfTheServerAppliesAndDefaultsSendNoLogin() throws {
        let settings = try rules(Self.file).settings(for: Self.url, of: JobSettings())
        #expect(settings.proxy?.url == "http://hooks.lan:1" && settings.timeout == .seconds(9))
        #expect(settings.retry.limit == 3 && settings.tls.ca == "/all.pem" && settings.tls.pins.count == 1)
        #expect(settings.auth == .bearer(.environment("H")) && settings.headers.map(\.name) == ["X-Hook"])
    }

    @Test(arguments: ["https://other.example/in", nil]) func onlyDefaultsApplyToOtherServers(url: String?) throws {
        let settings = try rules(Self.file).settings(for: url, of: JobSettings())
        #expect(settings.proxy?.url == "http://all.lan:1" && settings.tls.ca == "/all.pem")
        #expect(settings.auth == nil && settings.headers.isEmpty && settings.tls.pins.isEmpty)
    }

    @Test func theJobsOwnSettingsTakePrecedence() throws {
        var job = JobSettings()
        job.proxy = JobSettings.Proxy(url: "http://job.lan:1")
        job.tls.ca = "/job.pem"
        job.timeout = .seconds(1)
        job.retry.limit = 7
        let settings = try rules(Self.file).settings(for: Self.url, of: job)
        #expect(settings.proxy?.url == "http://job.lan:1" && settings.tls.ca == "/job.pem")
        #expect(settings.timeout == .seconds(1) && settings.retry.limit == 7)
    }

    /// The configuration's rules for the job's server do not apply to the server of its webhook.
    @Test func connectionSettingsOfTheJobsServerDoNotApplyToTheWebhook() throws {
        var job = JobSettings()
        job.proxy = JobSettings.Proxy(url: "http://files.lan:1")
        job.tls.ca = "/files.pem"
        let settings = try rules(Self.file).settings(for: Self.url, of: job)
        #expect(settings.proxy?.url == "http://hooks.lan:1" && settings.tls.ca == "/all.pem")
    }

    @Test func withoutAConfigurationNothingChanges() throws {
        var job = JobSettings()
        job.timeout = .seconds(1)
        #expect(try WebhookRules(Configuration()).settings(for: Self.url, of: job) == job)
    }
}
