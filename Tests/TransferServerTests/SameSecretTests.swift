import Foundation
import Testing
import TransferQueue
import TransferTestSupport

@testable import TransferServer

/// A secret for reading with the value of the secret that grants all rights.
@Suite(.timeLimit(.minutes(2))) struct SameSecretTests {
    @Test func theRulesAreCheckedWhateverNamesTheSecrets() throws {
        let secrets = try ["letmein-please", "only-looking", "letmein-pleas"].map { try #require(ServerSecret($0)) }
        var rules = AccessRules()
        rules.secrets = [secrets[0]]
        for (index, isRefused) in [(0, true), (1, false), (2, false)] {
            rules.readSecrets = [secrets[1], secrets[index]]
            var error: TransferError?
            do { try rules.check() } catch let refusal { error = refusal }
            #expect((error != nil) == isRefused, "\(index)")
            #expect(error?.message.contains("letmein") != true, "a message has no secret")
        }
    }

    /// The ways in which the two secrets are named: options with variables and files, the configuration with systemd's
    /// credentials, and the secret that the service made.
    @Test(arguments: [
        (["--secret", "$OWN", "--read-secret", "$READER"], nil),
        (["--secret", "$OWN", "--read-secret", "@secret"], nil),
        (["--secret", "@secret", "--read-secret", "$OTHER", "--read-secret", "$READER"], nil),
        (["--read-secret", "$READER"], #"{"env": "OWN"}"#), (["--read-secret", "$READER"], #"{"credential": "own"}"#),
        (["--read-secret", "@state/serve.secret"], nil),
    ]) func theServiceDoesNotStart(_ options: [String], _ configured: String?) async throws {
        let folder = try TemporaryFolder("same")
        _ = try (folder.folder("files"), folder.folder("state"), folder.folder("credentials"))
        for path in ["secret", "credentials/own", "state/serve.secret"] {
            try folder.write("letmein-please", to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path(path))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path("state"))
        let serve = configured.map { #", "serve": {"secret": \#($0)}"# } ?? ""
        try folder.write("{\"version\": 1\(serve)}", to: "config.json")
        var command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            [
                "--listen", "127.0.0.1:0", "--state", folder.path("state"), "--directory", folder.path("files"),
                "--config", folder.path("config.json"),
            ] + options,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": folder.path("home"), "OWN": "letmein-please",
                "READER": "letmein-please", "OTHER": "only-looking",
                "CREDENTIALS_DIRECTORY": folder.path("credentials"),
            ], workingFolder: folder.path, timeout: .seconds(30))
        command.standardInput = .none
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 65 && result.standardError.contains("is also the secret"), "\(result)")
        #expect(!result.standardError.contains("letmein"), "\(result)")
    }
}
