import Testing
import TransferCore
import TransferQueueFixtures
import TransferUpload

@testable import TransferJobs

/// Servers of FTP and SFTP as job files describe them.
@Suite struct FileServerSettingsTests {
    private static let print = "SHA256:" + String(repeating: "a", count: 43)

    private func upload(_ members: String, to url: String = "sftp://h/in/f", defaults: String = "{}") throws
        -> (spec: JobSpec?, lines: [String])
    {
        let comma = members.isEmpty ? "" : ", "
        let reading = try read(
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{"upload": "f", "to": "\#(url)"\#(comma)\#(members)}]}"#
        )
        return (reading.jobs.first, reading.faults.map { "\($0.path) \($0.message)" })
    }

    private func uploadProtocol(_ spec: JobSpec?) -> JobSpec.UploadProtocol? {
        if case .upload(let upload)? = spec?.work { upload.uploadProtocol } else { nil }
    }

    @Test func readsEveryKey() throws {
        let (spec, lines) = try upload(
            #""ssh": {"config": "c", "user": "ann", "knownHosts": "kh", "hostKey": "\#(Self.print)", "key": "k", "keyPassphrase": {"env": "P"}, "agent": false}, "createFolders": true"#
        )
        #expect(lines == [])
        let ssh = try #require(spec?.settings.ssh)
        #expect(
            ssh.config == "c" && ssh.user == "ann" && ssh.knownHosts == "kh" && ssh.hostKey == Self.print
                && ssh.key == "k")
        #expect(ssh.keyPassphrase == .environment("P") && ssh.agent == false)
        let ftp = try upload(#""ftp": {"requireTLS": true, "active": true}"#, to: "ftp://h/f").spec?.settings.ftp
        #expect(ftp?.requireTLS == true && ftp?.active == true)
    }

    @Test(arguments: [
        ("sftp://h/f", JobSpec.UploadProtocol.sftp, "sftp://h"), ("ftp://h/f", .ftp, "ftp://h"),
        ("FTPS://h:9/f", .ftp, "ftps://h:9"),
    ])
    func theSchemeSelectsTheProtocol(_ url: String, _ expected: JobSpec.UploadProtocol, _ origin: String) throws {
        let (spec, lines) = try upload("", to: url)
        #expect(lines == [] && uploadProtocol(spec) == expected && spec?.origin(mirror: 0) == origin)
        let said = try upload(#""protocol": "\#(expected.rawValue)""#, to: url)
        #expect(said.lines == [] && said.spec == spec)
        // The protocol of the defaults is for other jobs.
        #expect(uploadProtocol(try upload("", to: url, defaults: #"{"protocol": "tus"}"#).spec) == expected)
    }

    @Test func aJobsOwnKeysTakePrecedenceOverDefaults() throws {
        let spec = try upload(
            #""ssh": {"user": "bob"}"#, defaults: #"{"ssh": {"user": "ann", "knownHosts": "kh"}}"#
        ).spec
        #expect(spec?.settings.ssh?.user == "bob" && spec?.settings.ssh?.knownHosts == "kh")
    }

    @Test(arguments: [
        #""ssh": {"user": "ann", "hostKey": "\#(print)", "key": "k", "keyPassphrase": {"file": "p"}, "agent": true}"#,
        #""ssh": {}"#, #""ftp": {"active": true}, "createFolders": true"#, #""ftp": {}, "ifChanged": "fail""#,
    ])
    func storedSettingsAreReadBackUnchanged(_ members: String) throws {
        let spec = try #require(try upload(members).spec)
        let again = try JobSpec(canonicalJSON: spec.canonicalJSON)
        #expect(again == spec && again.fingerprint == spec.fingerprint)
    }

    @Test func anotherUserIsAnotherJob() throws {
        let prints = try ["", #""ssh": {"user": "ann"}"#, #""ssh": {"user": "bob"}"#].map {
            try #require(try upload($0).spec).fingerprint
        }
        #expect(Set(prints).count == 3)
        // The choice of trusted keys changes nothing about the result.
        let pinned = try #require(try upload(#""ssh": {"hostKey": "\#(Self.print)"}"#).spec)
        #expect(pinned.fingerprint == prints[0])
    }

    @Test(arguments: [
        (
            #""protocol": "ftp""#, "sftp://h/f",
            #"$.jobs[0].protocol a URL of sftp:// goes with the protocol "sftp""#
        ),
        (#""protocol": "put""#, "ftps://h/f", #"$.jobs[0].protocol a URL of ftps:// goes with the protocol "ftp""#),
        (#""protocol": "sftp""#, "http://h/f", #"$.jobs[0].to the protocol "sftp" has URLs as sftp://host/path"#),
        (
            #""protocol": "ftp""#, "https://h/f",
            #"$.jobs[0].to the protocol "ftp" has URLs as ftp://host/path or ftps://host/path"#
        ),
        (
            #""parallel": 2"#, "sftp://h/f",
            #"$.jobs[0].parallel "parallel" is for the protocol "s3" or "tus", not "sftp""#
        ),
        (
            #""ssh": {"keyPassphrase": {"env": "P"}}"#, "sftp://h/f",
            #"$.jobs[0].ssh "keyPassphrase" needs a "key""#
        ),
        (
            #""ssh": {"hostKey": "MD5:aa"}"#, "sftp://h/f",
            #"$.jobs[0].ssh.hostKey not a fingerprint; write "SHA256:" and 43 characters of base 64, as ssh-keygen -lf shows it"#
        ),
        (
            #""ssh": {"knownHost": "x"}"#, "sftp://h/f",
            #"$.jobs[0].ssh.knownHost unknown key "knownHost"; did you mean "knownHosts"?"#
        ),
    ])
    func reportsTheFault(_ members: String, _ url: String, _ line: String) throws {
        #expect(try upload(members, to: url).lines == [line])
    }

    @Test func aPassphraseIsNamedAndNeverWritten() throws {
        let lines = try upload(#""ssh": {"key": "k", "keyPassphrase": "hush"}"#).lines
        #expect(lines.first?.contains("a passphrase is named, never written") == true)
        #expect(!lines.joined().contains("hush"))
        var spec = try #require(try upload(#""ssh": {"key": "k", "keyPassphrase": {"env": "P"}}"#).spec)
        #expect(!spec.hasSecret && spec.settings.credentialNames == [])
        spec.settings.ssh?.keyPassphrase = .literal("hush")
        #expect(spec.hasSecret && !spec.redacted.canonicalJSON.contains("hush"))
        spec.settings.ssh?.keyPassphrase = .credential("c")
        #expect(spec.settings.credentialNames == ["c"])
    }
}
