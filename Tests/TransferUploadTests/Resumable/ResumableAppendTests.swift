import Testing
import TransferCore
import TransferUpload

struct ResumableAppendTests {
    typealias Script = ResumableScript
    static let problems = "https://iana.org/assignments/http-problem-types#"

    // MARK: The offset

    @Test func aLaterAttemptAsksBeforeItSends() {
        let script = Script(state: Script.saved())
        #expect(script.sent == Script.head)
        #expect(script.request?.headers == [HeaderField("Upload-Draft-Interop-Version", "8")])
        #expect(script.actions.count == 1)
    }

    @Test func theRestIsSentFromTheServersOffset() {
        let script = Script.resumed(at: 40)
        #expect(script.actions.first == .confirmed(40))
        #expect(script.sent == Script.patch)
        #expect(script.sentBody == .source(40..<100))
        #expect(script.sentField("Upload-Offset") == "40")
        #expect(script.sentField("Upload-Complete") == "?1")
    }

    @Test func aFullyStoredUploadIsOnlyDeclaredComplete() {
        var script = Script.resumed(at: 100)
        #expect(script.sentBody == .bytes([]))
        #expect(script.sentField("Upload-Complete") == "?1")
        script.answer(200, ["Upload-Complete": "?1"])
        #expect(script.result != nil)
    }

    func complete(version: Int = 8) -> Script {
        var script = Script(state: Script.saved(version: version))
        script.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1", "ETag": "\"of the upload\""])
        return script
    }

    @Test func theTargetsLostAnswerIsAskedForAgain() {
        var script = complete()
        #expect(script.sent == Script.patch)
        #expect(script.sentBody == .bytes([]))
        #expect(script.sentField("Upload-Offset") == "100")
        #expect(script.sentField("Upload-Complete") == "?1")
        script.answer(201, ["Upload-Complete": "?1", "ETag": "\"of the target\""], body: "thanks")
        #expect(script.result?.status == 201)
        #expect(script.result?.validator == "\"of the target\"")
        #expect(script.result?.response == "thanks")
    }

    @Test func theTargetsLostRefusalIsNoSuccess() {
        var script = complete()
        script.answer(422, ["Upload-Complete": "?1"])
        #expect(script.failure?.status == 422)
        #expect(script.failure?.isTransient == false)
        #expect(script.state?.contains("\"url\"") == false, "asking about the upload would only say that it is over")
    }

    @Test(arguments: [200, 400, 404, 405, 409, 501])
    func withoutTheLostAnswerTheCompleteUploadIsASuccess(status: Int) {
        var script = complete()
        script.answer(status, ["Upload-Complete": "?0"])
        #expect(script.actions == [.confirmed(100), .finish(UploadResult(url: Script.target, status: 204))])
    }

    @Test func theLostAnswerIsAskedForInALaterAttemptWhereThisOneIsCutShort() {
        var busy = complete()
        busy.answer(503)
        #expect(busy.failure?.isTransient == true)
        var lost = complete()
        lost.lose(sent: 0)
        #expect(lost.failure?.isTransient == true)
        var next = Script(state: lost.state)
        #expect(next.sent == Script.head)
        // The questions are limited: the upload is complete, whatever the server answers.
        for _ in 0..<2 {
            next.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
            #expect(next.sent == Script.patch)
            next.answer(503)
            next = Script(state: next.state)
        }
        next.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
        #expect(next.result?.status == 204)
    }

    @Test func aPossiblyChangedSourceCountsOnlyIfComplete() {
        func attempt() -> ResumableDialogue {
            ResumableDialogue(
                source: UploadSource(name: "a.bin", size: 100, mayHaveChanged: true),
                options: ResumableOptions(url: Script.target, method: "POST"), state: Script.saved(isEnding: true))
        }
        var partial = Script(attempt())
        partial.answer(204, ["Upload-Offset": "40", "Upload-Complete": "?0"])
        #expect(partial.sent == Script.delete)
        partial.answer(204)
        #expect(partial.restart != nil && partial.request?.method == "POST")
        partial.answer(201, ["Location": "/uploads/u2", "Upload-Complete": "?0"])
        #expect(partial.sentBody == .source(0..<100))
        var complete = Script(attempt())
        complete.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
        complete.answer(200, ["Upload-Complete": "?1"])
        #expect(complete.result?.status == 200)
    }

    @Test func aRefusedQuestionIsNotTheTargetsAnswer() {
        var script = complete()
        script.answer(
            400, ["Upload-Complete": "?1", "Content-Type": "application/problem+json"],
            body: "{\"type\":\"\(Self.problems)completed-upload\"}")
        #expect(script.result?.status == 204)
    }

    @Test func aCompleteUploadIsFinishedWithoutTheLostAnswerInVersion6() {
        let script = complete(version: 6)
        #expect(script.actions == [.confirmed(100), .finish(UploadResult(url: Script.target, status: 204))])
    }

    @Test(arguments: [404, 410])
    func anUploadThatIsGoneIsBegunAnew(status: Int) {
        var script = Script(state: Script.saved(version: 6))
        script.answer(status)
        #expect(script.restart != nil)
        #expect(script.sent == Script.put)
        #expect(script.sentField("Upload-Draft-Interop-Version") == "6", "what was learnt of the server stays")
        #expect(script.state?.contains("\"url\"") == false)
    }

    @Test func aServerThatAlwaysLosesTheUploadEndsTheAttempt() {
        var script = Script(state: Script.saved())
        for _ in 0..<2 {
            script.answer(404)
            script.answer(201, ["Location": "/uploads/u1", "Upload-Complete": "?0"])
        }
        script.answer(404)
        #expect(script.failure?.isTransient == true)
    }

    @Test(arguments: ["Upload-Offset", "Upload-Length"])
    func anUploadOfAnotherLengthIsRemovedAndBegunAnew(field: String) {
        var script = Script(state: Script.saved())
        script.answer(204, ["Upload-Offset": "40", "Upload-Complete": "?0"].merging([field: "101"]) { $1 })
        #expect(script.sent == Script.delete)
        #expect(script.restart == nil)
        script.answer(204)
        #expect(script.restart != nil)
        #expect(script.sent == Script.put)
    }

    @Test func aFailedRemovalDoesNotBlockANewUpload() {
        var script = Script(state: Script.saved())
        script.answer(204, ["Upload-Offset": "101", "Upload-Complete": "?0"])
        script.lose(sent: 0)
        #expect(script.sent == Script.put)
    }

    @Test func aSourceOfAnotherLengthNeverResumesTheOldUpload() {
        var script = Script(state: Script.saved(length: 99))
        #expect(script.sent == Script.delete)
        script.answer(404)
        #expect(script.restart != nil)
        #expect(script.sentField("Upload-Length") == "100")
    }

    @Test func anUploadThatWasEndedShortIsBegunAnew() {
        var script = Script(state: Script.saved())
        script.answer(204, ["Upload-Offset": "60", "Upload-Complete": "?1"])
        #expect(script.restart != nil)
    }

    @Test func anExpiredUploadIsNotAskedAbout() {
        let script = Script(state: Script.saved(expires: 1000), now: 1000)
        #expect(script.restart != nil)
        #expect(script.sent == Script.put)
        let alive = Script(state: Script.saved(expires: 1001), now: 1000)
        #expect(alive.sent == Script.head)
    }

    @Test func aPossiblyCompleteUploadIsAskedAboutAfterItsExpiry() {
        let script = Script(method: "POST", state: Script.saved(expires: 900, isEnding: true))
        #expect(script.sent == Script.head)
    }

    @Test(arguments: ["x", "?1", "1.0", "-1", "1000000000000000", "40, 40"])
    func anOffsetThatIsNoCountIsNone(value: String) {
        var script = Script(state: Script.saved())
        script.answer(204, ["Upload-Offset": value, "Upload-Complete": "?0"])
        #expect(script.restart == "the server does not say how much it has" && script.sent == Script.put)
    }

    @Test(arguments: ["1", "true", "?2", "\"?1\""])
    func aCompletenessThatIsNoBooleanIsNone(value: String) {
        var script = Script(state: Script.saved())
        script.answer(204, ["Upload-Offset": "100", "Upload-Complete": value])
        #expect(script.sent == Script.patch)
    }

    @Test(arguments: [423, 429, 500, 503]) func aTemporarilyUnavailableOffsetIsAskedForLater(status: Int) {
        var script = Script(state: Script.saved())
        script.answer(status)
        #expect(script.failure?.status == status && script.failure?.isTransient == true)
        #expect(script.state == Script.saved(), "the upload stays known")
    }

    @Test(arguments: [400, 401, 403, 405, 501]) func aRefusedQuestionEndsNoUploadAndForgetsNone(status: Int) throws {
        var script = Script(state: Script.saved())
        script.answer(status)
        #expect(script.restart?.contains("\(status)") == true && script.sent == Script.put)
        // The new upload was never created, so the former one is asked about again.
        script.answer(503)
        #expect(script.failure?.isTransient == true)
        var next = Script(state: script.state)
        #expect(next.sent == Script.head)
        next.answer(status)
        next.answer(201, ["Location": "/uploads/u2", "Upload-Complete": "?0", "Upload-Draft-Interop-Version": "8"])
        #expect(next.sent == "PATCH https://files.example/uploads/u2")
        // The former upload is abandoned only now, whatever the result is.
        next.answer(200, ["Upload-Complete": "?1"])
        #expect(next.sent == Script.delete && next.result == nil)
        next.answer(403)
        #expect(next.result?.status == 200)
    }

    @Test func givingUpTakesTheFormerOnesAlong() {
        var script = Script(state: Script.saved())
        script.answer(403)
        script.answer(201, ["Location": "/uploads/u2", "Upload-Complete": "?0", "Upload-Draft-Interop-Version": "8"])
        var later = ResumableScript(
            abandoning: ResumableDialogue(
                source: UploadSource(name: "a.bin", size: 100), options: ResumableOptions(url: Script.target),
                state: script.state))
        #expect(later.sent == "DELETE https://files.example/uploads/u2")
        later.answer(204)
        #expect(later.sent == Script.delete)
        later.answer(404)
        #expect(later.result != nil)
    }

    @Test func aServerThatChangedItsVersionIsAskedInThatOne() {
        var script = Script(state: Script.saved(version: 6))
        script.answer(400, ["Upload-Draft-Interop-Version": "8"])
        #expect(script.sent == Script.head)
        #expect(script.sentField("Upload-Draft-Interop-Version") == "8")
    }

    @Test func aStateThatIsNoneBeginsAnew() {
        for text: UploadState in ["", "{}", "null", "{\"length\":\"x\"}"] {
            let script = Script(state: text)
            #expect(script.sent == Script.put)
        }
    }

    // MARK: Parts

    @Test func partsFollowOneAnotherAndOnlyTheLastCompletes() {
        var script = Script.resumed(at: 0, chunkSize: 40)
        #expect(script.sentBody == .source(0..<40))
        #expect(script.sentField("Upload-Complete") == "?0")
        script.answer(204, ["Upload-Complete": "?0"])
        #expect(script.actions.first == .confirmed(40))
        #expect(script.sentBody == .source(40..<80))
        script.answer(204)
        #expect(script.sentBody == .source(80..<100))
        #expect(script.sentField("Upload-Complete") == "?1")
        script.answer(200, ["Upload-Complete": "?1"], body: "ok")
        #expect(script.result?.response == "ok")
    }

    @Test func theServersOffsetDecidesWhereTheNextPartBegins() {
        var script = Script.resumed(at: 0, chunkSize: 40)
        script.answer(201, ["Upload-Complete": "?0", "Upload-Offset": "25"])
        #expect(script.sentBody == .source(25..<65))
        script.answer(201, ["Upload-Complete": "?0", "Upload-Offset": "90"])
        #expect(script.sentBody == .source(90..<100))
    }

    @Test(
        arguments: [
            ("max-append-size=30", nil, 30), ("max-append-size=30", 50, 30), ("max-append-size=30", 20, 20),
            ("min-append-size=30", 20, 30), ("min-append-size=30, max-append-size=30", 20, 30), ("min-size=30", 20, 20),
            ("min-append-size=90", 20, 60), ("max-append-size=30,", nil, 60),
        ] as [(String, Int64?, Int64)])
    func aPartKeepsToTheLimits(limits: String, chunkSize: Int64?, length: Int64) {
        let script = Script.resumed(at: 40, chunkSize: chunkSize, fields: ["Upload-Limit": limits])
        #expect(script.sentBody == .source(40..<40 + length))
    }

    @Test func theLastPartMayBeShorterThanTheLeast() {
        let script = Script.resumed(at: 90, fields: ["Upload-Limit": "min-append-size=30"])
        #expect(script.sentBody == .source(90..<100))
    }

    @Test func limitsThatLeaveNoSizeEndTheUpload() {
        var script = Script.resumed(at: 0, fields: ["Upload-Limit": "min-append-size=50, max-append-size=30"])
        #expect(script.sent == Script.delete)
        script.answer(204)
        #expect(script.failure?.isTransient == false)
    }

    @Test func theLifetimeIsSavedWhenItMovesByMoreThanAMinute() {
        var script = Script.resumed(at: 0, chunkSize: 10, fields: ["Upload-Limit": "max-age=3600"])
        #expect(script.state?.contains("\"expires\":4600") == true)
        script.now += 30
        script.answer(204, ["Upload-Limit": "max-age=3600"])
        #expect(script.state?.contains("\"expires\":4600") == true)
        script.now += 30
        script.answer(204, ["Upload-Limit": "max-age=3600"])
        #expect(script.state?.contains("\"expires\":4660") == true)
    }

    @Test func version6CallsTheLifetimeExpires() {
        let six = Script.resumed(version: 6, fields: ["Upload-Limit": "expires=60"])
        #expect(six.state?.contains("\"expires\":1060") == true)
        let eight = Script.resumed(version: 8, fields: ["Upload-Limit": "expires=60"])
        #expect(eight.state?.contains("expires") == false)
    }

    @Test func aPartIsTooLargeForAGatewayAndIsHalved() {
        var script = ResumableScript(size: 100_000, state: Script.saved(length: 100_000))
        script.answer(204, ["Upload-Offset": "0", "Upload-Complete": "?0"])
        script.answer(413)
        #expect(script.sent == Script.head)
        script.answer(204, ["Upload-Offset": "0", "Upload-Complete": "?0"])
        #expect(script.sentBody == .source(0..<50_000))
        #expect(script.sentField("Upload-Complete") == "?0")
        #expect(script.state?.contains("\"cap\":50000") == true, "the next attempt knows")
        for _ in 0..<20 where script.failure == nil {
            script.answer(413)
            script.answer(204, ["Upload-Offset": "0", "Upload-Complete": "?0"])
        }
        #expect(script.failure?.status == 413)
    }
}
