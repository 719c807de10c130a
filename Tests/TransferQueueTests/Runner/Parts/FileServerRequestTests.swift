import Foundation
import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferScheduling
import TransferTestSupport
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue

/// The settings of a request to a server of FTP or SFTP.
@Suite struct FileServerRequestTests {
    private func upload(_ members: String, to url: String = "sftp://h/in/f") throws -> JobSpec {
        let comma = members.isEmpty ? "" : ", "
        let reading = try read(
            #"{"version": 1, "jobs": [{"upload": "f", "to": "\#(url)"\#(comma)\#(members)}]}"#)
        return try #require(reading.jobs.first)
    }

    private func builder(_ variables: [String: String]) -> RequestBuilder {
        RequestBuilder(userAgent: "t", proxies: .none, secrets: SecretSource(environment: { variables[$0] }))
    }

    private func settings(_ members: String, to url: String = "sftp://h/in/f", _ variables: [String: String]) throws
        -> ExchangeSettings
    {
        let spec = try upload(members, to: url)
        let request = UploadRequest(id: 1, method: "PUT", url: url, body: .bytes([1]))
        return try builder(variables).exchange(request, of: spec, source: nil).settings
    }

    @Test func defaultsAreThoseOfSSH() throws {
        let home = try TemporaryFolder("home")
        let variables = ["HOME": home.path, "SSH_AUTH_SOCK": "/run/agent"]
        var made = try settings("", variables)
        #expect(made.files.knownHosts == home.path(".ssh/known_hosts") && made.files.hostKey == nil)
        #expect(made.files.usesAgent && made.files.privateKey == nil)
        #expect(made.credentials == .password(user: String(cString: getpwuid(geteuid()).pointee.pw_name), password: ""))
        for name in ["id_rsa", "id_ecdsa", "id_ed25519"] {
            try home.write("key", to: ".ssh/\(name)")
            made = try settings("", variables)
            #expect(made.files.privateKey?.path == home.path(".ssh/\(name)"))
        }
    }

    @Test func withoutAHomeNoHostIsKnown() throws {
        for variables in [[:], ["HOME": "", "SSH_AUTH_SOCK": ""]] {
            let made = try settings("", variables)
            #expect(made.files.knownHosts == nil && made.files.privateKey == nil && !made.files.usesAgent)
        }
    }

    @Test func aJobsSettingsTakePrecedence() throws {
        let made = try settings(
            #""ssh": {"user": "ann", "key": "/k", "keyPassphrase": {"env": "P"}, "knownHosts": "/kh", "agent": false}, "createFolders": true"#,
            ["HOME": "/home/x", "SSH_AUTH_SOCK": "/a", "P": "open"])
        #expect(made.files.privateKey == .init(path: "/k", passphrase: "open") && !made.files.usesAgent)
        #expect(made.files.knownHosts == "/kh" && made.credentials == .password(user: "ann", password: ""))
        #expect(made.files.createsFolders)
        let login = try settings(
            #""auth": {"user": "bob", "password": {"env": "P"}}, "ssh": {"user": "ann"}"#, ["P": "secret"])
        #expect(login.credentials == .password(user: "bob", password: "secret"))
    }

    @Test func sshsConfigurationNamesTheServerAndTheLogin() throws {
        let home = try TemporaryFolder("home")
        let key = try home.write("key", to: "keys/own")
        try home.write("key", to: ".ssh/id_ed25519")
        let text = """
            Host h
              HostName real.example
              Port 2222
              User ann
              IdentityFile ~/keys/missing
              IdentityFile ~/keys/own
              UserKnownHostsFile ~/kh /more
              GlobalKnownHostsFile none
            Host gate
              ProxyJump other
            """
        let path = try home.write(text, to: ".ssh/config")
        func request(_ members: String, to url: String = "sftp://h/in/f") throws -> ExchangeRequest {
            let spec = try upload(members, to: url)
            return try builder(["HOME": home.path, "SSH_AUTH_SOCK": "/a", "P": "secret"]).exchange(
                UploadRequest(id: 1, method: "PUT", url: url, body: .bytes([1])), of: spec, source: nil)
        }
        let made = try request("")
        #expect(made.url == "sftp://real.example:2222/in/f")
        #expect(made.settings.credentials == .password(user: "ann", password: ""))
        #expect(made.settings.files.privateKey?.path == key && made.settings.files.knownHosts == home.path("kh"))
        #expect(made.settings.files.furtherKnownHosts == ["/more"])
        // The job's own values take precedence.
        let own = try request(#""ssh": {"user": "bob", "key": "/k", "knownHosts": "/kh"}"#, to: "sftp://h:22/in/f")
        #expect(own.url == "sftp://real.example:22/in/f")
        #expect(own.settings.credentials == .password(user: "bob", password: ""))
        #expect(own.settings.files.privateKey?.path == "/k" && own.settings.files.knownHosts == "/kh")
        let login = try request(#""auth": {"user": "eve", "password": {"env": "P"}}"#)
        #expect(login.settings.credentials == .password(user: "eve", password: "secret"))
        // Another file, and none.
        let none = try request(#""ssh": {"config": "/dev/null"}"#, to: "sftp://gate/f")
        #expect(none.url == "sftp://gate/f")
        #expect(none.settings.files.privateKey?.path == home.path(".ssh/id_ed25519"))
        let refusal = #expect(throws: TransferError.self) { try request("", to: "sftp://gate/f") }
        #expect(refusal?.message.hasPrefix("\(path):10: ProxyJump is not supported: ") == true)
        let missing = #expect(throws: TransferError.self) { try request(#""ssh": {"config": "/missing"}"#) }
        #expect(missing?.message.contains("/missing") == true)
        // As with ssh, a file that others can change counts for nothing.
        chmod(path, 0o666)
        let shared = #expect(throws: TransferError.self) { try request("") }
        #expect(shared?.message.contains("others may change the file") == true)
    }

    @Test func theOriginOfAJobIsTheRealServer() throws {
        let home = try TemporaryFolder("home")
        try home.write("Host h\nHostName 127.0.0.1\nPort 2222\n", to: ".ssh/config")
        let spec = try upload("")
        let variables = ["HOME": home.path]
        let secrets = SecretSource(environment: { variables[$0] })
        #expect(spec.settings.origin(of: "sftp://h/in/f", secrets)?.description == "sftp://127.0.0.1:2222")
        // The stored origin, and with it the job's identity, does not depend on the user's files.
        #expect(spec.origin(mirror: 0) == "sftp://h")
        let reach = builder(variables).reach(spec, origin: "sftp://h", straight: OriginReach(origin: "sftp://h"))
        #expect(reach == .local)
    }

    @Test func aJobsSettingsApplyToAnFTPServer() throws {
        let plain = try settings("", to: "ftp://h/f", [:])
        #expect(!plain.files.requiresTLS && !plain.files.usesActiveMode && plain.credentials == .none)
        let made = try settings(#""ftp": {"requireTLS": true, "active": true}"#, to: "ftp://h/f", [:])
        #expect(made.files.requiresTLS && made.files.usesActiveMode && !made.files.createsFolders)
    }

    /// Credentials of one server are not given to another.
    @Test func anotherServerGetsNoPassword() throws {
        let spec = try upload(#""auth": {"user": "bob", "password": {"env": "P"}}"#)
        for (url, isOurs) in [("sftp://h/in/.f.m.part", true), ("sftp://h:23/f", false), ("sftp://i/f", false)] {
            let request = UploadRequest(id: 1, method: "DELETE", url: url)
            let made = try builder(["P": "secret"]).exchange(request, of: spec, source: nil).settings
            #expect((made.credentials == .password(user: "bob", password: "secret")) == isOurs, "\(url)")
        }
    }
}
