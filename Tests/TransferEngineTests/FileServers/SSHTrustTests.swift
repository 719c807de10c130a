import Foundation
import Glibc
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The trust in SSH servers, and the login, against OpenSSH, whose log shows what it received.
@Suite("SSH servers", .enabled(if: SSHServer.isWanted), .timeLimit(.minutes(2)))
struct SSHTrustTests {
    private func with(
        _ options: SSHServer.Options = SSHServer.Options(), _ body: (Bench, SSHServer) async throws -> Void
    ) async throws {
        try await Bench.with { bench in
            try bench.folder.write("hello", to: "x")
            try await body(bench, SSHServer.start(options))
        }
    }

    private func look(
        _ bench: Bench, _ server: SSHServer, _ change: @escaping (inout ExchangeSettings) -> Void
    ) async throws -> ExchangeOutcome {
        try await bench.send("HEAD", server.url(bench.folder.path("x"))) {
            $0.files.knownHosts = server.knownHosts
            $0.files.privateKey = FileServerSettings.PrivateKey(path: server.userKey)
            $0.credentials = .password(user: SSHServer.userName, password: "")
            change(&$0)
        }.end()
    }

    /// Whether the log has no attempt to log in: not even the user's name was sent.
    private func sawNobody(_ server: SSHServer) async -> Bool {
        await server.stop()
        let log = server.log()
        return !log.contains("Accepted") && !log.contains("Failed") && !log.contains("for user")
            && !log.contains("user \(SSHServer.userName)")
    }

    // MARK: The server

    @Test func aKnownServerIsAcceptedAndItsLogSaysSo() async throws {
        try await with { bench, server in
            let outcome = try await look(bench, server) { _ in }
            #expect(outcome.head?.contentLength == 5, "\(outcome.result)")
            await server.stop()
            // The line that the tests of refusals expect to be absent.
            #expect(server.log().contains("Accepted publickey for \(SSHServer.userName)"))
        }
    }

    @Test func withoutARuleAnyServerIsRefused() async throws {
        try await with { bench, server in
            let outcome = try await look(bench, server) { $0.files.knownHosts = nil }
            #expect(outcome.error?.code == .hostKeyRefused && outcome.error?.isTransient == false)
            #expect(outcome.metrics.connectionsMade == 0)
            #expect(await sawNobody(server))
        }
    }

    @Test(arguments: [true, false]) func anUnknownServerIsRefusedBeforeTheLogin(_ isFileThere: Bool) async throws {
        try await with { bench, server in
            let path = bench.folder.path("known")
            let other = "other.example \(try String(contentsOfFile: server.hostKey + ".pub", encoding: .utf8))"
            if isFileThere { try bench.folder.write(other, to: "known") }
            let outcome = try await look(bench, server) { $0.files.knownHosts = path }
            let error = try #require(outcome.error)
            #expect(error.code == .hostKeyRefused && !error.isTransient)
            let print = try await server.fingerprint()
            #expect(error.message.contains(print) && error.message.contains("ED25519"))
            #expect(error.message.contains("ssh-keyscan -p \(server.port) 127.0.0.1 >> \(path)"))
            // The key is never added.
            let after = try? bench.folder.text("known")
            #expect(after == (isFileThere ? other : nil))
            #expect(await sawNobody(server))
        }
    }

    /// The command in the message works as printed.
    @Test func theAdviceOfTheMessageHelps() async throws {
        try await with { bench, server in
            let path = bench.folder.path("known")
            let error = try await look(bench, server) { $0.files.knownHosts = path }.error
            let command = try #require(error?.message.split(separator: ": ").last.map(String.init))
            let result = try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", command])).result()
            #expect(result.exitCode == 0, "\(result.standardError)")
            let outcome = try await look(bench, server) { $0.files.knownHosts = path }
            #expect(outcome.head?.status == 200)
        }
    }

    @Test func aServerWithAChangedKeyIsRefused() async throws {
        try await with { bench, server in
            let other = try await SSHServer.makeKey(bench.folder.path("other"))
            let line = "[127.0.0.1]:\(server.port) \(try String(contentsOfFile: other + ".pub", encoding: .utf8))"
            try bench.folder.write(line, to: "known")
            let outcome = try await look(bench, server) { $0.files.knownHosts = bench.folder.path("known") }
            #expect(outcome.error?.code == .hostKeyRefused)
            #expect(outcome.error?.message.contains("another one than in") == true)
            #expect(await sawNobody(server))
        }
    }

    @Test func hashedNamesAreKnownToo() async throws {
        try await with { bench, server in
            let path = try bench.folder.write(
                try String(contentsOfFile: server.knownHosts, encoding: .utf8), to: "known")
            let result = try await ChildProcess.start(ChildProcess.Command("/usr/bin/ssh-keygen", ["-H", "-f", path]))
                .result()
            let hashed = try bench.folder.text("known")
            #expect(result.exitCode == 0 && hashed.hasPrefix("|1|"))
            let outcome = try await look(bench, server) { $0.files.knownHosts = path }
            #expect(outcome.head?.status == 200)
        }
    }

    @Test(arguments: [true, false]) func aPinnedKeyDecidesAlone(_ isRight: Bool) async throws {
        try await with { bench, server in
            let print = try await server.fingerprint()
            let outcome = try await look(bench, server) {
                $0.files.knownHosts = nil
                $0.files.hostKey = isRight ? print : "SHA256:" + String(repeating: "A", count: 43)
            }
            if isRight {
                #expect(outcome.head?.status == 200)
            } else {
                #expect(outcome.error?.code == .hostKeyRefused && outcome.error?.isTransient == false)
                #expect(outcome.error?.message.contains(print) == true)
                #expect(await sawNobody(server))
            }
        }
    }

    // MARK: The user

    @Test func aLoginWithoutCredentialsIsInvalid() async throws {
        try await with { bench, server in
            let outcome = try await look(bench, server) { $0.credentials = .none }
            #expect(outcome.error?.code == .invalidRequest)
        }
    }

    @Test(arguments: ["stranger", "encrypted", "missing", "none"])
    func aLoginWithoutAUsableKeyIsRefused(_ what: String) async throws {
        try await with { bench, server in
            let path = bench.folder.path("key")
            if what == "stranger" { try await SSHServer.makeKey(path) }
            if what == "encrypted" { try await SSHServer.makeKey(path, passphrase: "hush") }
            let outcome = try await look(bench, server) {
                $0.files.privateKey =
                    what == "none" ? nil : FileServerSettings.PrivateKey(path: path, passphrase: "wrong")
            }
            let error = try #require(outcome.error)
            #expect(error.code == (what == "missing" ? .fileMissing : .loginRefused) && !error.isTransient)
            #expect(what == "missing" || error.message.contains("refused the user \(SSHServer.userName)"))
            #expect(!error.message.contains("wrong"))
        }
    }

    @Test func aKeyWithAPassphraseIsOpened() async throws {
        try await with { bench, server in
            let path = try await SSHServer.makeKey(bench.folder.path("key"), passphrase: "hush")
            let more = try String(contentsOfFile: path + ".pub", encoding: .utf8)
            try server.folder.write(more, to: "authorized_keys")
            let outcome = try await look(bench, server) {
                $0.files.privateKey = FileServerSettings.PrivateKey(path: path, passphrase: "hush")
            }
            #expect(outcome.head?.status == 200, "\(outcome.result)")
        }
    }

    @Test(.enabled(if: SSHServer.canHaveUsers)) func aPasswordLogsInAndAWrongOneDoesNot() async throws {
        var options = SSHServer.Options()
        options.users = ["alice": "secret-a"]
        options.allowsPasswords = true
        try await with(options) { bench, server in
            let right = try await look(bench, server) {
                $0.files.privateKey = nil
                $0.credentials = .password(user: "alice", password: "secret-a")
            }
            #expect(right.head?.status == 200, "\(right.result)")
            let wrong = try await look(bench, server) {
                $0.files.privateKey = nil
                $0.credentials = .password(user: "alice", password: "secret-b")
            }
            #expect(wrong.error?.code == .loginRefused && wrong.error?.message.contains("secret") == false)
            #expect(server.log().contains("Accepted password for alice"))
        }
    }

    /// The second user must not see the files of the first.
    @Test(.enabled(if: SSHServer.canHaveUsers)) func twoUsersShareNoConnection() async throws {
        var options = SSHServer.Options()
        options.users = ["alice": "secret-a", "bob": "secret-b"]
        options.allowsPasswords = true
        try await with(options) { bench, server in
            for name in ["alice", "bob", "alice", "bob"] {
                let outcome = try await look(bench, server) {
                    $0.files.privateKey = nil
                    $0.credentials = .password(user: name, password: "secret-\(name.prefix(1))")
                }
                #expect(outcome.head?.status == 200)
            }
            // A wrong password does not get the same user onto the connection of the right one.
            let wrong = try await look(bench, server) {
                $0.files.privateKey = nil
                $0.credentials = .password(user: "alice", password: "secret-x")
            }
            #expect(wrong.error?.code == .loginRefused)
            let log = server.log()
            #expect(log.split(separator: "Accepted password for alice").count == 2)
            #expect(log.split(separator: "Accepted password for bob").count == 2)
        }
    }

    @Test func anotherRuleAboutTheServerUsesNoConnectionOfThisOne() async throws {
        try await with { bench, server in
            let known = try await look(bench, server) { _ in }
            #expect(known.head?.status == 200)
            let pinned = try await look(bench, server) { $0.files.hostKey = String(repeating: "A", count: 43) }
            #expect(pinned.error?.code == .hostKeyRefused)
            let unknown = try await look(bench, server) { $0.files.knownHosts = bench.folder.path("none") }
            #expect(unknown.error?.code == .hostKeyRefused)
            let stranger = try await SSHServer.makeKey(bench.folder.path("key"))
            let other = try await look(bench, server) {
                $0.files.privateKey = FileServerSettings.PrivateKey(path: stranger)
            }
            #expect(other.error?.code == .loginRefused)
        }
    }

    /// The agent is found only through the environment of the process (ssh-agent(1)), so this test runs in a child
    /// process.
    @Test func theAgentsKeyLogsIn() async throws {
        try await with { bench, server in
            let script = """
                eval $(ssh-agent -s) >/dev/null; trap 'kill $SSH_AGENT_PID' EXIT
                "$0" "$@" && echo unexpected; ssh-add -q '\(server.userKey)' && "$0" "$@"
                """
            let result = try await ChildProcess.start(
                ChildProcess.Command(
                    "/bin/sh",
                    [
                        "-c", script, TransferCommand.builtProduct("link-probe"), "agent", server.knownHosts,
                        SSHServer.userName, server.url(bench.folder.path("x")),
                    ])
            ).result()
            let lines = result.standardOutput.split(separator: "\n").map(String.init)
            #expect(lines == ["failed loginRefused", "200 5"], "\(result.standardError)")
        }
    }
}
