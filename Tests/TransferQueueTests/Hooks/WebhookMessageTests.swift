import Testing
import TransferCore
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue

/// The form of a message by Standard Webhooks.
@Suite struct WebhookMessageTests {
    private func request(secret: String?) throws -> [String: String] {
        let source = SecretSource(environment: { _ in secret })
        let hook = FinishHook.Webhook(
            url: .literal("https://h.example/in"), secret: secret == nil ? nil : .environment("S"))
        let request = try WebhookMessage(hook, source).request(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: #"{"test": 2432232314}"#, now: 1_614_265_330)
        #expect(request.method == "POST" && request.url == "https://h.example/in" && !request.followsRedirects)
        return Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The values are the example of the standard's own documentation.
    @Test func aMessageIsSignedByTheStandard() throws {
        let fields = try request(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(fields["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect(fields["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(fields["webhook-timestamp"] == "1614265330" && fields["Content-Type"] == "application/json")
    }

    @Test func withoutASecretNothingIsSignedAndAWrongOneIsReported() throws {
        #expect(try request(secret: nil)["webhook-signature"] == nil)
        #expect(throws: TransferError.self) { try request(secret: "whsec_not base64") }
        #expect(try request(secret: "any text")["webhook-signature"]?.hasPrefix("v1,") == true)
    }

    @Test func aWebhookOfAnotherOriginGetsNothingThatIsMeantForTheJobsServer() {
        var settings = JobSettings()
        settings.tls.ca = "/ca.pem"
        settings.tls.pins = ["sha256/x"]
        settings.tls.insecure = true
        settings.auth = .bearer(.environment("T"))
        settings.proxy = .init(url: "http://p.example:3128")
        settings.headers = [.init(name: "X-Own", value: .literal("1"))]
        let hook = FinishHook.webhook(.init(url: .literal("https://h.example/in")))
        let other = HookRoute.settings(settings, for: hook, job: "https://a.example/x")
        #expect(other.tls.ca == "/ca.pem" && other.tls.pins.isEmpty && !other.tls.insecure)
        #expect(other.auth == nil && other.headers.isEmpty && other.proxy == settings.proxy)
        let same = HookRoute.settings(settings, for: hook, job: "https://h.example/x")
        #expect(same.tls == settings.tls && same.auth == nil)
        #expect(HookRoute.settings(text: HookRoute.text(other)) == other)
    }
}
