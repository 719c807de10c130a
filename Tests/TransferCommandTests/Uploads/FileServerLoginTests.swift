import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Trusted host keys and logins, by the command, against OpenSSH and pyftpdlib.
@Suite(.enabled(if: FileServerKind.isWanted), .timeLimit(.minutes(2))) struct FileServerLoginTests {
    /// Starts a server with a file, and makes a place whose home has the key for the login.
    private func start() async throws -> (server: SSHServer, place: Workplace, url: String) {
        let server = try await SSHServer.start()
        let place = try Workplace("login")
        try place.folder.write(Data(contentsOf: URL(fileURLWithPath: server.userKey)), to: "home/.ssh/id_ed25519")
        chmod(place.folder.path("home/.ssh/id_ed25519"), 0o600)
        let file = try server.folder.write("hello", to: "served/x")
        return (server, place, server.url(file))
    }

    @Test func hostsKnownToSSHAreTrusted() async throws {
        let (server, place, url) = try await start()
        try place.folder.write(Data(contentsOf: URL(fileURLWithPath: server.knownHosts)), to: "home/.ssh/known_hosts")
        let result = try await place.run("get", url)
        #expect(result.exitCode == 0, "\(result)")
        #expect(try place.folder.text("x") == "hello")
        // The user may stand in the URL, as for ssh's own commands.
        let named = url.replacingOccurrences(of: "sftp://", with: "sftp://\(SSHServer.userName)@")
        try place.folder.write("up", to: "up")
        let put = try await place.run("put", "up", named + ".d/", "--create-folders")
        #expect(put.exitCode == 0, "\(put)")
        #expect(try server.folder.text("served/x.d/up") == "up")
        let stranger = try await place.run("put", "up", url, "--user", "nobody-\(getpid())", "-j", "1")
        #expect(stranger.exitCode == 1 && stranger.standardError.contains("refused the user nobody-"), "\(stranger)")
    }

    /// Transfers with the name, the port, the user, the key and the known keys that `~/.ssh/config` has.
    @Test func serversAreNamedAsInSSHsConfiguration() async throws {
        let (server, place, url) = try await start()
        rename(place.folder.path("home/.ssh/id_ed25519"), place.folder.path("home/.ssh/own key"))
        let text = """
            Host box
              HostName 127.0.0.1
              Port \(server.port)
              User \(SSHServer.userName)
              IdentityFile "~/.ssh/own key"
              UserKnownHostsFile \(server.knownHosts)
            """
        try place.folder.write(text, to: "home/.ssh/config")
        let named = url.replacingOccurrences(of: "127.0.0.1:\(server.port)", with: "box")
        try place.folder.write("up", to: "up")
        let get = try await place.run("get", named)
        #expect(get.exitCode == 0, "\(get)")
        #expect(try place.folder.text("x") == "hello")
        let put = try await place.run("put", "up", named + ".up")
        #expect(put.exitCode == 0, "\(put)")
        #expect(try server.folder.text("served/x.up") == "up")
        try place.folder.write("Host *\n  ProxyJump gate\n", to: "jump")
        let jump = try await place.run("get", named, "-o", "y", "--ssh-config", place.folder.path("jump"))
        #expect(jump.exitCode == 1 && jump.standardError.contains("jump:2: ProxyJump is not supported: "), "\(jump)")
        #expect(!place.folder.exists("y"))
    }

    @Test func anUnknownServerIsRefusedWithAdviceThatHelps() async throws {
        let (server, place, url) = try await start()
        try place.jobs([download(url, to: "x", #""id": "x""#)])
        let result = try await place.runJobs()
        #expect(result.exitCode == 1, "\(result)")
        let file = place.folder.path("home/.ssh/known_hosts")
        let advice = "ssh-keyscan -p \(server.port) 127.0.0.1 >> \(file)"
        #expect(
            result.standardError.contains("is not in \(file); if it is the right one, add it: \(advice)"), "\(result)")
        // The refusal is reported once, and not retried; no credentials were sent to the server.
        #expect(try result.events().named("job.retrying").isEmpty && !place.folder.exists("home/.ssh/known_hosts"))
        #expect(!server.log().contains("Accepted"))
        let shell = ChildProcess.Command("/bin/sh", ["-c", advice])
        #expect(try await ChildProcess.start(shell).result().exitCode == 0)
        let again = try await place.runJobs()
        #expect(again.exitCode == 0, "\(again)")
        #expect(try place.folder.text("x") == "hello")
    }

    @Test func aPinnedKeyDecidesAlone() async throws {
        let (server, place, url) = try await start()
        let print = try await server.fingerprint()
        #expect(try await place.run("get", url, "--host-key", print).exitCode == 0)
        let other = "SHA256:" + String(repeating: "A", count: 43)
        let result = try await place.run("get", url, "-o", "y", "--host-key", other)
        #expect(result.exitCode == 1 && result.standardError.contains("is not the pinned one"), "\(result)")
        #expect(result.standardError.contains("--host-key), which ssh-keyscan -p "), "\(result)")
        #expect(!place.folder.exists("y"))
    }

    /// libssh2 tries a key and does not report why it could not use it.
    @Test(
        arguments: [
            ("open sesame", nil), ("wrong", ": the key KEY, if its passphrase opens it"),
            (nil, ": the key KEY, which only a passphrase opens (\"keyPassphrase\", --ssh-key-passphrase)"),
        ] as [(String?, String?)])
    func aKeyWithAPassphraseIsReported(_ passphrase: String?, _ message: String?) async throws {
        let (server, place, url) = try await start()
        try place.folder.write(Data(contentsOf: URL(fileURLWithPath: server.knownHosts)), to: "home/.ssh/known_hosts")
        let key = place.folder.path("key")
        rename(place.folder.path("home/.ssh/id_ed25519"), key)
        let encrypt = ["-q", "-p", "-P", "", "-N", "open sesame", "-f", key]
        #expect(try await ChildProcess.start(.init("/usr/bin/ssh-keygen", encrypt)).result().exitCode == 0)
        var command = place.command(["get", url, "--ssh-key", key])
        if let passphrase {
            command.arguments += ["--ssh-key-passphrase", "$OPENS"]
            command.environment["OPENS"] = passphrase
        }
        command.environment["SSH_AUTH_SOCK"] = nil
        let result = try await command.run()
        #expect(result.exitCode == (message == nil ? 0 : 1), "\(result)")
        if let message {
            #expect(
                result.standardError.contains(message.replacingOccurrences(of: "KEY", with: key)), "\(result)")
        }
    }

    /// `secret-a` is the right one.
    @Test(arguments: [("secret-a", Int32(0)), ("passhunter", 1)])
    func aPasswordIsUsedAndShownNowhere(_ password: String, _ status: Int32) async throws {
        let server = try await FTPServer.start()
        let place = try Workplace("login")
        try place.folder.write("up", to: "up")
        var command = place.command([
            "put", "up", server.url("/"), "--user", "alice", "--password", "$PASSWORD", "--json", "-v",
        ])
        command.environment["PASSWORD"] = password
        let result = try await command.run()
        #expect(result.exitCode == status, "\(result)")
        #expect(FileManager.default.fileExists(atPath: server.root + "/up") == (status == 0))
        let isRefused = result.standardError.contains("refused the user alice (530 ")
        #expect(isRefused == (status != 0), "\(result)")
        #expect(!result.standardOutput.contains(password) && !result.standardError.contains(password))
        #expect(try result.events().named("job.retrying").isEmpty)
        #expect(try place.secretIsNowhere(password))
    }

    @Test(arguments: [
        ["get", "ftp://me:passhunter@127.0.0.1:1/x"], ["get", "http://me:passhunter@127.0.0.1:1/x"],
        ["put", "f", "sftp://me:passhunter@127.0.0.1:1/x"],
        ["get", "ftp://127.0.0.1:1/x", "--user", "me", "--password", "passhunter"],
        ["get", "sftp://127.0.0.1:1/x", "--ssh-key", "k", "--ssh-key-passphrase", "passhunter"],
    ])
    func aPasswordOnACommandLineIsRefusedWithoutRepeatingIt(_ arguments: [String]) async throws {
        let place = try Workplace("login")
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains("'$VARIABLE' or '@FILE'"), "\(result)")
        #expect(!result.standardError.contains("passhunter") && !result.standardOutput.contains("passhunter"))
    }

    @Test(arguments: [
        (["put", "f", "sftp://h/x", "--protocol", "ftp"], #"a URL of sftp:// goes with the protocol "sftp""#),
        (["put", "f", "http://h/x", "--protocol", "sftp"], #"the protocol "sftp" has URLs as sftp://host/path"#),
        (["get", "ftp://me@h/x"], "a user needs --password or --netrc, but for sftp:// URLs"),
        (
            ["get", "sftp://h/x", "--host-key", "aa:bb"],
            "'aa:bb' is invalid for '--host-key <SHA256:…>': it takes SHA256: and 43 characters"
        ),
        (["get", "ftp://h/x", "--password", "$P"], "--password needs --user"),
    ])
    func contradictoryOptionsAreReported(_ arguments: [String], _ message: String) async throws {
        let place = try Workplace("login")
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains(message), "\(result)")
    }
}
