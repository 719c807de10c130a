import Foundation
import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
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
