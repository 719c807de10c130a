import Testing
import TransferCore
import TransferCrypto
import TransferTestServer

@testable import TransferUpload

/// The server of the dialogue's tests, tested against the protocol's text.
@Suite struct TusServiceTests {
    private func ask(
        _ service: inout TusService, _ method: String, _ target: String, _ fields: HeaderFields = [:],
        _ body: [UInt8]? = nil, isWhole: Bool = true
    ) -> Response {
        var headers: HeaderFields = ["Tus-Resumable": "1.0.0"]
        if method == "PATCH" { headers["Content-Type"] = "application/offset+octet-stream" }
        if let body { headers["Content-Length"] = "\(body.count)" }
        switch service.begin(1, method: method, target: target, headers: headers.overridden(by: fields)) {
        case .answer(let answer): return answer
        case .read:
            _ = service.receive(1, body ?? [])
            return service.end(1, isWhole: isWhole)
        }
    }

    private func made(_ length: Int = 10) -> TusService {
        var service = TusService()
        _ = ask(&service, "POST", "/files", ["Upload-Length": "\(length)"])
        return service
    }

    @Test func theServerListsItsExtensionsAndRefusesOtherVersions() {
        var service = TusService()
        service.maxSize = 5
        let options = service.begin(1, method: "OPTIONS", target: "/files", headers: [:])
        guard case .answer(let reported) = options else {
            Issue.record("OPTIONS has no body")
            return
        }
        #expect(reported.status == 204)
        #expect(reported.headers["Tus-Version"] == "1.0.0")
        #expect(reported.headers["Tus-Max-Size"] == "5")
        #expect(reported.headers["Tus-Checksum-Algorithm"] == "sha1,md5")
        #expect(
            reported.headers["Tus-Extension"]
                == "checksum,concatenation,creation,creation-with-upload,expiration,termination")
        let old = ask(&service, "POST", "/files", ["Tus-Resumable": "0.2.2", "Upload-Length": "1"])
        #expect(old.status == 412)
        #expect(old.headers["Tus-Version"] == "1.0.0")
        #expect(ask(&service, "POST", "/files", ["Upload-Length": "6"]).status == 413)
        #expect(service.uploads.isEmpty)
    }

    @Test(
        arguments: [
            [:], ["Upload-Length": "-1"], ["Upload-Length": "x"],
            ["Upload-Length": "1", "Upload-Metadata": "a,a"], ["Upload-Length": "1", "Upload-Metadata": "a ?"],
            ["Upload-Length": "1", "Upload-Metadata": " "], ["Upload-Length": "1", "Upload-Concat": "part"],
        ] as [HeaderFields])
    func invalidCreationsAreRefused(_ fields: HeaderFields) {
        var service = TusService()
        #expect(ask(&service, "POST", "/files", fields).status == 400)
        #expect(service.uploads.isEmpty)
    }

    @Test func theBytesOfACutBodyAreKept() {
        var service = made()
        _ = ask(
            &service, "PATCH", "/files/u1", ["Upload-Offset": "0", "Content-Length": "10"], [1, 2, 3], isWhole: false)
        let head = ask(&service, "HEAD", "/files/u1")
        #expect(head.headers["Upload-Offset"] == "3")
        #expect(head.headers["Upload-Length"] == "10")
        #expect(head.headers["Cache-Control"] == "no-store")
        #expect(service.finished.isEmpty)
        #expect(service.received == 3)
    }

    @Test func refusesChunksThatDoNotFit() {
        var service = made()
        #expect(ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "1"], [1]).status == 409)
        #expect(ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "x"], [1]).status == 400)
        #expect(ask(&service, "PATCH", "/files/u1", [:], [1]).status == 400)
        #expect(ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0", "Content-Type": "a/b"], [1]).status == 415)
        let long = [UInt8](repeating: 1, count: 11)
        #expect(ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0"], long).status == 413)
        #expect(ask(&service, "PATCH", "/files/u9", ["Upload-Offset": "0"], [1]).status == 404)
        #expect(service.uploads.first?.bytes == [])
        let taken = ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0"], Array(long.dropLast()))
        #expect(taken.status == 204)
        #expect(taken.headers["Upload-Offset"] == "10")
        #expect(service.finished.count == 1)
    }

    @Test func anUploadIsLockedWhileItIsWritten() {
        var service = made()
        let fields: HeaderFields = [
            "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0",
        ]
        _ = service.begin(7, method: "PATCH", target: "/files/u1", headers: fields)
        #expect(ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0"], [1]).status == 423)
        #expect(ask(&service, "DELETE", "/files/u1").status == 423)
        _ = service.end(7, isWhole: false)
        #expect(ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0"], [1]).status == 204)
    }

    /// The digests match OpenSSL's, also at the lengths where padding changes.
    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000], [DigestAlgorithm.sha1, .md5, .sha256])
    func takesAChunkOnlyWithItsOwnDigest(_ length: Int, _ algorithm: DigestAlgorithm) throws {
        let bytes = Content.random(seed: 1, count: Int64(length)).bytes()
        let digest = try Digest(algorithm)
        bytes.withUnsafeBytes { digest.update($0) }
        let field = TusFields.checksum(try digest.finish())
        var service = made(length + 1)
        service.checksums = ["sha1", "md5", "sha256"]
        let wrong = ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0", "Upload-Checksum": field], bytes + [0])
        #expect(wrong.status == 460)
        let unknown = ask(
            &service, "PATCH", "/files/u1", ["Upload-Offset": "0", "Upload-Checksum": "crc32 AAAA"], bytes)
        #expect(unknown.status == 400)
        _ = ask(
            &service, "PATCH", "/files/u1", ["Upload-Offset": "0", "Upload-Checksum": field], bytes, isWhole: false)
        #expect(service.uploads.first?.bytes == [])
        let right = ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0", "Upload-Checksum": field], bytes)
        #expect(right.status == 204)
        #expect(service.uploads.first?.bytes == bytes)
    }

    @Test func unfinishedUploadsExpireAndFinishedOnesStay() {
        var service = TusService()
        service.lifetime = 60
        let made = ask(&service, "POST", "/files", ["Upload-Length": "2"])
        #expect(made.headers["Upload-Expires"] == TransferCore.HTTPDate.format(service.now + 60))
        _ = ask(&service, "POST", "/files", ["Upload-Length": "0"])
        service.now += 59
        #expect(ask(&service, "HEAD", "/files/u1").status == 200)
        let taken = ask(&service, "PATCH", "/files/u1", ["Upload-Offset": "0"], [1])
        #expect(taken.headers["Upload-Expires"] == TransferCore.HTTPDate.format(service.now + 60))
        service.now += 60
        #expect(ask(&service, "HEAD", "/files/u1").status == 410)
        service.remembersGone = false
        #expect(ask(&service, "HEAD", "/files/u1").status == 404)
        #expect(ask(&service, "HEAD", "/files/u2").status == 200)
    }

    @Test func joinsCompletePartsInTheOrderOfTheList() {
        var service = TusService()
        service.removesJoinedParts = false
        for (index, bytes) in [[1, 2], [3]].enumerated() as EnumeratedSequence<[[UInt8]]> {
            _ = ask(&service, "POST", "/files", ["Upload-Length": "\(bytes.count)", "Upload-Concat": "partial"])
            let list = "final;/files/u1"
            #expect(index > 0 || ask(&service, "POST", "/files", ["Upload-Concat": list]).status == 400, "unfinished")
            _ = ask(&service, "PATCH", "/files/u\(index + 1)", ["Upload-Offset": "0"], bytes)
        }
        #expect(service.finished.isEmpty, "parts are no objects")
        let list = "final;http://h/files/u2 /files/u1"
        #expect(ask(&service, "POST", "/files", ["Upload-Concat": list, "Upload-Length": "3"]).status == 400)
        #expect(ask(&service, "POST", "/files", ["Upload-Concat": "final;/files/u9"]).status == 404)
        #expect(ask(&service, "POST", "/files", ["Upload-Concat": list]).status == 201)
        #expect(service.finished.map(\.bytes) == [[3, 1, 2]])
        let head = ask(&service, "HEAD", "/files/u3")
        #expect(head.headers["Upload-Concat"] == list)
        #expect(head.headers["Upload-Offset"] == "3")
        #expect(ask(&service, "PATCH", "/files/u3", ["Upload-Offset": "3"], []).status == 403)
    }

    @Test func terminationIsRefusedUnlessOffered() {
        var service = made()
        #expect(ask(&service, "DELETE", "/files/u1").status == 204)
        #expect(ask(&service, "DELETE", "/files/u1").status == 410)
        service.offers = ["creation"]
        _ = ask(&service, "POST", "/files", ["Upload-Length": "2"])
        #expect(ask(&service, "DELETE", "/files/u2").status == 405)
        #expect(ask(&service, "POST", "/files", ["Upload-Length": "1", "Upload-Concat": "partial"]).status == 400)
        #expect(
            ask(
                &service, "POST", "/files",
                ["Upload-Length": "1", "Content-Type": "application/offset+octet-stream"], [1]
            ).status == 400)
        let summed = ask(
            &service, "PATCH", "/files/u2", ["Upload-Offset": "0", "Upload-Checksum": "sha1 AAAA"], [1])
        #expect(summed.status == 400)
    }
}
