import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// Copies as job files describe them.
@Suite struct CopyJobTests {
    private func copy(
        _ members: String = "", from: String = #""https://a.example/x.bin""#, to: String = "https://b.example/y",
        defaults: String = "{}"
    ) throws -> (spec: JobSpec?, lines: [String]) {
        let more = members.isEmpty ? "" : ", " + members
        let reading = try read(
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{"download": \#(from), "to": "\#(to)"\#(more)}]}"#)
        return (reading.jobs.first, reading.faults.map { "\($0.path) \($0.message)" })
    }

    private func upload(_ spec: JobSpec?) throws -> JobSpec.Upload {
        guard case .upload(let upload)? = spec?.work else { throw TransferError(.internalFault, "no copy") }
        return upload
    }

    @Test func aDownloadToAURLIsACopy() throws {
        let (spec, lines) = try copy(#""checksum": "md5:\#(String(repeating: "0f", count: 16))", "size": 7"#)
        #expect(lines == [])
        let upload = try upload(spec)
        #expect(upload.from?.download.urls == ["https://a.example/x.bin"] && upload.url == "https://b.example/y")
        #expect(upload.source == "https://a.example/x.bin" && upload.uploadProtocol == .put)
        #expect(upload.from?.download.size == 7 && upload.checksum == upload.from?.download.checksum)
        #expect(spec?.identity == "https://b.example/y" && spec?.hasRelativePath == false)
    }

    @Test func mirrorsProtocolsAndTheirOptionsAreThoseOfDownloadsAndUploads() throws {
        let mirrors = #"["https://a.example/x.bin", "ftp://c.example/x.bin"]"#
        let (spec, lines) = try copy(#""protocol": "tus", "chunkSize": "8M""#, from: mirrors)
        #expect(lines == [])
        let upload = try upload(spec)
        #expect(upload.from?.download.urls.count == 2 && upload.uploadProtocol == .tus)
        #expect(upload.options.chunkSize == 8 << 20)
    }

    @Test(arguments: [
        ("https://b.example/in/", "https://b.example/in/x.bin"), ("s3://bucket/in/", "s3://bucket/in/x.bin"),
        ("sftp://b.example/in/", "sftp://b.example/in/x.bin"),
    ]) func aFolderGetsTheSourcesName(to: String, url: String) throws {
        #expect(try upload(try copy(to: to).spec).url == url)
    }

    @Test func credentialsOfOneServerAreNotSentToTheOther() throws {
        let (spec, lines) = try copy(
            #""headers": {"X-A": "1"}, "auth": {"bearer": {"env": "A"}}, "cookies": "jar", "tls": {"ca": "ca.pem"}, "#
                + #""retry": {"limit": 3}, "timeout": "5s", "#
                + #""destination": {"headers": {"X-B": "2"}, "auth": {"netrc": true}, "timeout": "9s"}"#,
            defaults: #"{"headers": {"X-D": "0"}}"#)
        #expect(lines == [])
        let source = try #require(try upload(spec).from).settings
        #expect(Set(source.headers.map(\.name)) == ["X-A", "X-D"] && source.auth == .bearer(.environment("A")))
        #expect(source.http.cookies == "jar" && source.tls.ca == "ca.pem" && source.timeout == .seconds(5))
        let settings = try #require(spec).settings
        #expect(settings.headers.map(\.name) == ["X-B"] && settings.auth == .netrc() && settings.http.cookies == nil)
        #expect(settings.tls == JobSettings.TLSSettings() && settings.timeout == .seconds(9))
        #expect(settings.retry.limit == 3)
    }

    @Test(arguments: [
        (#""proxy": null"#, JobSettings.Proxy(url: "")), (#""noProxy": "a""#, .environment(except: "a")),
        (#""proxy": "http://p", "noProxy": "a""#, .init(url: "http://p", noProxy: "a")), (#""noProxy": null"#, nil),
    ]) func eachSideHasItsProxyOrNone(_ members: String, _ proxy: JobSettings.Proxy?) throws {
        let (spec, lines) = try copy(#""destination": {\#(members)}"#)
        #expect(lines == [] && spec?.settings.proxy == proxy)
        #expect(try JobSpec(canonicalJSON: #require(spec).canonicalJSON) == spec)
        let (other, faults) = try copy(members)
        #expect(try faults == [] && upload(other).from?.settings.proxy == proxy)
    }

    @Test func accessBelongsToTheSideThatSpeaksIt() throws {
        let access = #""s3": {"endpoint": "https://s.example", "region": "r"}"#
        let to = try copy(access, to: "s3://bucket/y").spec
        #expect(to?.settings.s3?.endpoint == "https://s.example")
        let both = try copy(access, from: #""s3://other/x""#, to: "s3://bucket/y").spec
        #expect(try upload(both).from?.settings.s3?.endpoint == "https://s.example" && both?.settings.s3 == nil)
        let reported = try copy(
            access + #", "destination": {"s3": {"endpoint": "https://t.example"}}"#, from: #""s3://other/x""#,
            to: "s3://bucket/y"
        ).spec
        #expect(reported?.settings.s3?.endpoint == "https://t.example")
    }

    @Test(arguments: [
        (#""ifExists": "skip""#, #"$.jobs[0].ifExists "ifExists" belongs to a download to a file"#),
        (#""destination": {"retry": {}}"#, #"$.jobs[0].destination.retry unknown key "retry""#),
        (#""protocol": "s3""#, #"$.jobs[0].to the protocol "s3" has URLs as"#),
        (#""parallel": 2"#, #"$.jobs[0].parallel "parallel" is for the protocol"#),
    ]) func keysWithoutMeaningForACopyAreRefused(members: String, line: String) throws {
        let lines = try copy(members).lines
        #expect(lines.count == 1 && lines[0].hasPrefix(line), "\(lines)")
    }

    @Test func theNumberOfConnectionsIsThatOfTheSource() throws {
        let spec = try #require(try copy(#""segments": 4"#).spec)
        #expect(try upload(spec).from?.download.segments == .exactly(4))
        #expect(try JobSpec(canonicalJSON: spec.canonicalJSON) == spec)
        let plain = try #require(try copy("").spec)
        #expect(plain.fingerprint == spec.fingerprint)
    }

    @Test func onlyACopyHasADestination() throws {
        let (_, lines) = try copy(#""destination": {}"#, to: "file")
        #expect(
            lines == [
                #"$.jobs[0].destination "destination" belongs to a copy: a "download" whose "to" is a URL"#
            ])
    }

    @Test func secretsOfBothSidesAreNotStored() throws {
        var upload = JobSpec.Upload(
            from: CopySource(
                JobSpec.Download(urls: ["https://a.example/x?X-Amz-Signature=hunter1"], destination: "")),
            url: "https://b.example/y?sig=hunter2")
        upload.from?.settings.auth = .bearer(.literal("hunter3"))
        var spec = JobSpec(work: .upload(upload))
        spec.settings.auth = .bearer(.literal("hunter4"))
        let secrets = try #require(JobSecrets(spec))
        let redacted = JobSecrets.redacted(spec)
        #expect(!redacted.canonicalJSON.contains("hunter"), "\(redacted.canonicalJSON)")
        #expect(secrets.restore(redacted) == spec)
    }
}
