import Testing
import TransferTestServer

/// The server of the stories, tested against the draft's text: the stories could not find an error that it tolerates.
struct ResumableServiceTests {
    private static let version: HeaderFields = ["Upload-Draft-Interop-Version": "8"]

    private static func fields(_ fields: HeaderFields) -> HeaderFields { version.overridden(by: fields) }

    /// Returns a service with an upload of 10 bytes, some of which it has received.
    private static func service(
        _ limits: ResumableService.Limits = .init(), dialect: ResumableService.Dialect = .version8, has: Int = 4
    ) -> ResumableService {
        var service = ResumableService(dialect: dialect, limits: limits)
        _ = service.begin(
            1, method: "POST", target: "/in",
            headers: [
                "Upload-Draft-Interop-Version": dialect == .version6 ? "6" : "8", "Upload-Complete": "?0",
                "Upload-Length": "10", "Content-Length": String(has),
            ])
        _ = service.receive(1, [UInt8](repeating: 1, count: has))
        _ = service.end(1, isWhole: true)
        return service
    }

    private static func patch(
        _ service: inout ResumableService, _ id: Int = 2, at offset: Int, _ complete: String, _ bytes: Int,
        length: Int? = nil, type: String = "application/partial-upload"
    ) -> Response {
        var headers = fields([
            "Upload-Offset": String(offset), "Upload-Complete": complete, "Content-Type": type,
            "Content-Length": String(bytes),
        ])
        headers["Upload-Length"] = length.map(String.init)
        switch service.begin(id, method: "PATCH", target: "/uploads/u1", headers: headers) {
        case .answer(let answer): return answer
        case .read:
            _ = service.receive(id, [UInt8](repeating: 2, count: bytes))
            return service.end(id, isWhole: true)
        }
    }

    private static func head(_ service: inout ResumableService) -> Response? {
        guard case .answer(let answer) = service.begin(90, method: "HEAD", target: "/uploads/u1", headers: version)
        else { return nil }
        return answer
    }

    @Test func theOffsetIsReportedWithCompletenessLengthAndLimits() throws {
        var service = Self.service(.init(maxSize: 50, lifetime: 60))
        service.now = 20
        let answer = try #require(Self.head(&service))
        #expect(answer.status == 204)
        #expect(answer.headers["Upload-Offset"] == "4")
        #expect(answer.headers["Upload-Complete"] == "?0")
        #expect(answer.headers["Upload-Length"] == "10")
        #expect(answer.headers["Upload-Limit"] == "max-size=50, max-age=40")
        #expect(answer.headers["Cache-Control"] == "no-store")
        var unlimited = Self.service()
        let other = try #require(Self.head(&unlimited))
        #expect(other.headers["Upload-Limit"] == "min-size=0")
        var six = Self.service(.init(lifetime: 60), dialect: .version6)
        let old = try #require(Self.head(&six))
        #expect(old.headers["Upload-Limit"] == "expires=60")
    }

    @Test func aMismatchingOffsetIsRefusedWithTheRightOne() {
        var service = Self.service()
        let answer = Self.patch(&service, at: 5, "?1", 5)
        #expect(answer.status == 409)
        #expect(answer.headers["Upload-Offset"] == "4")
        #expect(answer.headers["Upload-Complete"] == "?0")
        #expect(answer.headers["Content-Type"] == "application/problem+json")
        let body = String(decoding: answer.body.bytes(), as: UTF8.self)
        #expect(body.contains("#mismatching-upload-offset\""))
        #expect(body.contains("\"expected-offset\": 4"))
    }

    @Test func lengthsThatDisagreeAreRefused() {
        var service = Self.service()
        for answer in [
            Self.patch(&service, at: 4, "?1", 5), Self.patch(&service, at: 4, "?0", 2, length: 11),
        ] {
            #expect(answer.status == 400)
            #expect(String(decoding: answer.body.bytes(), as: UTF8.self).contains("#inconsistent-upload-length\""))
        }
        #expect(service.offset(of: "/uploads/u1") == 4)
    }

    @Test func anUploadThatExceedsItsLengthIsDeactivated() {
        var service = Self.service()
        #expect(Self.patch(&service, at: 4, "?0", 7).status == 400)
        #expect(Self.head(&service)?.status == 404)
    }

    @Test func anotherMediaTypeIsRefused() {
        var service = Self.service()
        #expect(Self.patch(&service, at: 4, "?1", 6, type: "application/octet-stream").status == 415)
    }

    @Test func aNewRequestEndsTheOneThatRuns() throws {
        var service = Self.service()
        let headers = Self.fields([
            "Upload-Offset": "4", "Upload-Complete": "?1", "Content-Type": "application/partial-upload",
        ])
        _ = service.begin(2, method: "PATCH", target: "/uploads/u1", headers: headers)
        _ = service.receive(2, [1, 1])
        let reported = try #require(Self.head(&service))
        #expect(reported.headers["Upload-Offset"] == "6")
        _ = service.receive(2, [1, 1, 1, 1])
        #expect(service.end(2, isWhole: true).status == 409)
        #expect(service.finished.isEmpty)
        #expect(service.offset(of: "/uploads/u1") == 6, "the offset that was told is accepted")
        #expect(Self.patch(&service, 3, at: 6, "?1", 4).headers["Upload-Complete"] == "?1")
    }

    @Test func aCompleteUploadReplaysItsAnswerAndTakesNoMore() {
        var service = Self.service()
        let final = Self.patch(&service, at: 4, "?1", 6)
        #expect(final.status == 201)
        let again = Self.patch(&service, 3, at: 10, "?1", 0)
        #expect(again.status == 201)
        #expect(again.headers["ETag"] == final.headers["ETag"])
        #expect(Self.patch(&service, 4, at: 10, "?0", 3).status == 400)
        #expect(service.finished.count == 1)
        #expect(service.objects["/in/1"]?.count == 10)
    }

    @Test func partsOutsideTheLimitsAreRefusedButTheLast() {
        var service = Self.service(.init(maxAppendSize: 5, minAppendSize: 3), has: 5)
        #expect(Self.patch(&service, at: 5, "?0", 2).status == 400)
        #expect(Self.patch(&service, at: 5, "?0", 6).status == 413)
        #expect(Self.patch(&service, at: 5, "?0", 3).status == 204)
        #expect(Self.patch(&service, at: 8, "?1", 2).status == 201)
    }

    @Test func aRequestOfNoOrAnotherVersionIsAPlainOne() {
        for number in [nil, "6", "9"] {
            var service = ResumableService()
            var headers: HeaderFields = ["Upload-Complete": "?1", "Content-Length": "1"]
            headers["Upload-Draft-Interop-Version"] = number
            guard case .read(let interim) = service.begin(1, method: "PUT", target: "/a", headers: headers) else {
                Issue.record("not read")
                continue
            }
            #expect(interim.isEmpty)
            _ = service.receive(1, [1])
            #expect(service.end(1, isWhole: true).headers["Upload-Complete"] == nil)
            #expect(service.objects["/a"] == [1])
        }
    }

    @Test func optionsReportTheLimits() {
        var service = ResumableService(limits: .init(maxSize: 7))
        guard case .answer(let answer) = service.begin(1, method: "OPTIONS", target: "/a", headers: Self.version)
        else {
            Issue.record("not answered")
            return
        }
        #expect(answer.headers["Upload-Limit"] == "max-size=7")
    }

    @Test func aWrongDigestIsTheTargetsRefusal() {
        var service = ResumableService()
        let headers = Self.fields([
            "Upload-Complete": "?1", "Content-Length": "1", "Repr-Digest": "sha-256=:AAAA:",
        ])
        _ = service.begin(1, method: "PUT", target: "/a", headers: headers)
        _ = service.receive(1, [1])
        let answer = service.end(1, isWhole: true)
        #expect(answer.status == 400)
        #expect(answer.headers["Upload-Complete"] == "?1")
        #expect(service.finished.isEmpty)
    }

    @Test func anUploadThatWasRemovedOrExpiredIsGone() {
        var service = Self.service(.init(lifetime: 60))
        service.now = 60
        #expect(Self.head(&service)?.status == 404)
        var removed = Self.service()
        _ = removed.begin(2, method: "DELETE", target: "/uploads/u1", headers: Self.version)
        #expect(Self.head(&removed)?.status == 404)
    }
}
