import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferUpload

@testable import TransferJobs

/// Uploads as job files describe them.
@Suite struct UploadSettingsTests {
    private func upload(_ members: String, to url: String = "http://h/in", defaults: String = "{}") throws
        -> (spec: JobSpec?, lines: [String])
    {
        let reading = try read(
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{"upload": "f", "to": "\#(url)", \#(members)}]}"#)
        return (reading.jobs.first, reading.faults.map { "\($0.path) \($0.message)" })
    }

    private func options(_ spec: JobSpec?) throws -> JobSpec.Upload {
        guard case .upload(let upload)? = spec?.work else { throw TransferError(.internalFault, "no upload") }
        return upload
    }

    @Test func readsEveryKey() throws {
        let (spec, lines) = try upload(
            #""protocol": "tus", "chunkSize": "64M", "parallel": 4, "ifChanged": "fail", "metadata": {"a": "1", "b": {"env": "B"}}"#
        )
        #expect(lines == [])
        let upload = try options(spec)
        #expect(upload.uploadProtocol == .tus && upload.options.chunkSize == 64 << 20 && upload.options.parallel == 4)
        #expect(upload.options.ifChanged == .fail)
        #expect(
            upload.options.metadata == [
                .init(name: "a", value: .literal("1")), .init(name: "b", value: .environment("B")),
            ])
        let form = try options(
            try self.upload(#""protocol": "multipart", "fields": {"k": "v"}, "fileField": "data""#).spec)
        #expect(form.options.fields == [.init(name: "k", value: .literal("v"))] && form.options.fileField == "data")
        #expect(try options(try self.upload(#""createFolders": true"#).spec).options.createFolders)
    }

    @Test func theJobChoosesWhichAnswersAreReceipts() throws {
        let (spec, lines) = try upload(#""protocol": "multipart""#, defaults: #"{"success": [201, 303]}"#)
        #expect(lines == [])
        #expect(try options(spec).receipt == ReceiptRule(method: "POST", success: [201, 303]))
        #expect(spec?.canonicalJSON.contains(#""success":[201,303]"#) == true)
        let plain = try #require(try upload(#""protocol": "multipart""#).spec)
        #expect(try options(plain).receipt == ReceiptRule(method: "POST") && plain.fingerprint != spec?.fingerprint)
    }

    @Test func aURLOfS3NeedsNoProtocol() throws {
        let (spec, lines) = try upload(
            #""s3": {"endpoint": "https://h:9", "region": "eu-1", "style": "path", "integrity": "md5", "accessKey": "a", "secretKey": {"file": "s"}}"#,
            to: "s3://bucket/key")
        #expect(lines == [])
        #expect(try options(spec).uploadProtocol == .s3)
        #expect(spec?.settings.s3?.endpoint == "https://h:9" && spec?.settings.s3?.secretKey == .file("s"))
        #expect(spec?.origin(mirror: 0) == "https://h:9")
        #expect(spec?.canonicalJSON.contains(#""s3":{"endpoint":"https://h:9""#) == true)
    }

    @Test func readsTheOptionsOfATusServer() throws {
        let (spec, lines) = try upload(
            #""protocol": "tus", "tus": {"createWithUpload": true}"#, defaults: #"{"tus": {"checksum": "sha1"}}"#)
        #expect(lines == [])
        let tus = try options(spec).options.tus
        #expect(tus.checksum == .sha1 && tus.createsWithUpload)
        #expect(
            try upload(#""tus": {"checksum": "sha1"}"#).lines.first?.contains("is for the protocol \"tus\"") == true)
        #expect(
            try upload(#""protocol": "tus", "tus": {"checksum": "crc32"}"#).lines.map { $0.prefix(22) }
                == ["$.jobs[0].tus.checksum"])
    }

    @Test(arguments: [
        #""protocol": "tus", "tus": {"checksum": "sha256", "createWithUpload": true}"#,
        #""protocol": "tus", "chunkSize": 5, "parallel": 2, "metadata": {"x": {"file": "y"}}, "ifChanged": "fail""#,
        #""protocol": "multipart", "fields": {"a": "b"}, "fileField": "c""#, #""createFolders": true"#,
        #""protocol": "post", "success": [303, 201]"#,
        #""checksum": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08""#,
    ])
    func storedSettingsAreReadBackUnchanged(_ members: String) throws {
        let spec = try #require(try upload(members).spec)
        let again = try JobSpec(canonicalJSON: spec.canonicalJSON)
        #expect(again == spec && again.fingerprint == spec.fingerprint)
    }

    @Test(arguments: [
        (#""protocol": "tus", "fields": {}"#, #"$.jobs[0].fields "fields" is for the protocol "multipart", not "tus""#),
        (#""parallel": 2"#, #"$.jobs[0].parallel "parallel" is for the protocol "s3" or "tus", not "put""#),
        (
            #""method": "delete""#,
            #"$.jobs[0].method delete stores nothing; an upload's method is "PUT", "POST" or "PATCH", say"#
        ),
        (#""protocol": "tus", "parallel": 65"#, "$.jobs[0].parallel 65 is out of range; 1 to 64 are possible"),
        (#""chunkSize": 0"#, "$.jobs[0].chunkSize a chunk has at least one byte"),
        (
            #""protocol": "s3""#,
            #"$.jobs[0].to the protocol "s3" has URLs as s3://bucket/key; its server is named by "s3": {"endpoint": …}"#
        ),
        (#""s3": {"accessKey": "a"}"#, #"$.jobs[0].s3 "s3" has both "accessKey" and "secretKey", or neither"#),
        (#""success": []"#, "$.jobs[0].success at least one status is needed"),
        (
            #""success": [204, 404]"#,
            "$.jobs[0].success[1] 404 is no success; 200 to 299 are, and 302 and 303 after a form"
        ),
        (#""success": [201, 303]"#, "$.jobs[0].success 303 says nothing of a file that was sent by PUT"),
        (
            #""protocol": "tus", "success": [201]"#,
            #"$.jobs[0].success "success" is for the protocol "multipart", "post" or "put", not "tus""#
        ),
        (#""ifChanged": "restrat""#, #"$.jobs[0].ifChanged unknown value "restrat"; did you mean "restart"?"#),
    ])
    func reportsTheFault(_ members: String, _ line: String) throws {
        #expect(try upload(members).lines == [line])
    }

    @Test func anUploadToAFileServerMayBeMadeInPlace() throws {
        let spec = try #require(try upload(#""inplace": true"#, to: "sftp://h/in").spec)
        #expect(try options(spec).options.inPlace && JobSpec(canonicalJSON: spec.canonicalJSON) == spec)
        // The server is not asked first. Where the job does not allow PUT to be repeated, the upload is not repeated.
        #expect(!spec.asksFirst && !spec.mustNotRepeat)
        let once = try upload(#""inplace": true, "retry": {"methods": []}"#, to: "ftp://h/in").spec
        #expect(once?.mustNotRepeat == true)
        #expect(
            try upload(#""inplace": true"#).lines == [
                #"$.jobs[0].inplace "inplace" is for the protocol "ftp" or "sftp", not "put""#
            ])
    }

    @Test func aSecretOfS3IsNamedAndNeverWritten() throws {
        let lines = try upload(#""s3": {"accessKey": "a", "secretKey": "hush"}"#, to: "s3://bucket/key").lines
        #expect(lines.first?.contains("a secret key is named, never written") == true)
        #expect(!lines.joined().contains("hush"))
    }

    @Test func manyUploadsToOneTusServerAreJobsOfTheirOwn() throws {
        let reading = try read(
            #"{"version": 1, "jobs": [{"upload": "a", "to": "http://h/", "protocol": "tus"}, {"upload": "b", "to": "http://h/", "protocol": "tus"}]}"#
        )
        #expect(reading.faults.isEmpty && reading.jobs.map(\.identity) == ["a", "b"])
        #expect(reading.jobs.map { $0.destinationKey(directory: "/") } == ["", ""])
    }
}
