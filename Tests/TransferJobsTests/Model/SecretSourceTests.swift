import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport
import TransferUpload

@testable import TransferJobs

@Suite struct SecretSourceTests {
    let folder: TemporaryFolder
    let source: SecretSource

    init() throws {
        folder = try TemporaryFolder("secrets")
        try folder.write("from-credential\r\n", to: "credentials/name")
        try folder.write("from-file\n", to: "file")
        source = SecretSource(
            environment: { $0 == "TOKEN" ? "from-environment" : $0 == "BAD" ? "secret-a\nX: b" : nil },
            credentialsFolder: folder.path("credentials"))
    }

    func message(_ text: SecretText, _ source: SecretSource? = nil) -> String {
        do throws(TransferError) {
            _ = try (source ?? self.source).read(text)
            return "no error"
        } catch {
            return error.code == .secretMissing ? error.message : "\(error.code)"
        }
    }

    @Test func readsEachKindWithoutTheNewlineAtTheEnd() throws {
        #expect(try source.read(.literal("as\nis")) == "as\nis")
        #expect(try source.read(.environment("TOKEN")) == "from-environment")
        #expect(try source.read(.file(folder.path("file"))) == "from-file")
        #expect(try source.read(.credential("name")) == "from-credential")
    }

    @Test func namesTheMissingSecret() {
        #expect(message(.environment("NOPE")) == "the environment variable NOPE is not set")
        #expect(message(.file(folder.path("nope"))).contains("/nope: no such file"))
        #expect(message(.credential("nope")).contains("/nope"))
        #expect(message(.credential("name"), SecretSource()) == "no credential \"name\" was given")
        #expect(message(.environment("TOKEN"), SecretSource()) == "the environment variable TOKEN is not set")
    }

    /// A program without an environment could not forbid the request to the metadata service.
    @Test func theMachinesRoleIsRequestedOnlyByAProgramWithAnEnvironment() throws {
        let access = JobSettings.S3Access()
        let failure = #expect(throws: TransferError.self) { try access.plan(SecretSource()) }
        #expect(failure?.code == .secretMissing)
        guard case .asked(.instance(let instance), _) = try access.plan(SecretSource(environment: { _ in nil })) else {
            Issue.record("the machine's role is not requested")
            return
        }
        #expect(instance.endpoint == "http://169.254.169.254")
    }

    @Test func aCredentialIsANameNotAPath() {
        #expect(message(.credential("../file")) == "no credential \"../file\" was given")
    }

    @Test func refusesLineBreaksWithoutShowingTheValue() throws {
        let text = message(.environment("BAD"))
        #expect(text.contains("line break") && !text.contains("secret-a"))
        try folder.write("a\rb", to: "bad")
        #expect(message(.file(folder.path("bad"))).contains("line break"))
    }

    @Test func aFileOfProfilesKeepsItsLines() throws {
        let text = "[default]\n\taws_access_key_id = a\r\n" + String(repeating: "# more\n", count: 20_000)
        try folder.write(text, to: "profiles")
        #expect(SecretSource.text(of: folder.path("profiles")) == text)
        #expect(SecretSource.text(of: folder.path("nope")) == nil && SecretSource.text(of: folder.path) == nil)
        try folder.write(String(repeating: "#\n", count: 600_000), to: "huge")
        #expect(SecretSource.text(of: folder.path("huge")) == nil)
    }
}
