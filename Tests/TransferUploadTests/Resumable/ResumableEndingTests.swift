import Testing
import TransferCore
import TransferUpload

/// Uploads that may have been applied, and uploads that are abandoned.
struct ResumableEndingTests {
    private typealias Script = ResumableScript

    // MARK: What may have been applied

    @Test func aPostThatWasAllSentAndIsGoneIsNotRepeated() {
        var script = Script.resumed("POST")
        #expect(script.state?.contains("\"isEnding\":true") == true, "saved before the last bytes go")
        script.lose(sent: 60)
        var next = Script(method: "POST", state: script.state)
        next.answer(404)
        #expect(next.failure?.code == .mayHaveBeenSent)
        #expect(next.failure?.isTransient == false)
        let byHand = Script(method: "POST", state: next.state)
        #expect(byHand.sent == Script.post)
    }

    @Test func aPostThatWasNotAllSentAndIsGoneIsBegunAnew() {
        var script = Script.resumed("POST")
        script.lose(sent: 59)
        var next = Script(method: "POST", state: script.state)
        next.answer(404)
        #expect(next.restart != nil)
        #expect(next.sent == Script.post)
    }

    @Test func aPutThatWasAllSentAndIsGoneIsBegunAnew() {
        var script = Script.resumed("PUT")
        script.lose(sent: 60)
        var next = Script(state: script.state)
        next.answer(404)
        #expect(next.sent == Script.put)
    }

    @Test func aPostKilledInItsLastBytesIsAskedAboutAndResumed() {
        let killed = Script.resumed("POST")
        var next = Script(method: "POST", state: killed.state)
        next.answer(204, ["Upload-Offset": "70", "Upload-Complete": "?0"])
        #expect(next.sentBody == .source(70..<100))
        next.answer(404, sent: 5)
        #expect(next.restart != nil, "it was incomplete, and these bytes were refused")

        var other = Script(method: "POST", state: killed.state)
        other.answer(204, ["Upload-Offset": "70", "Upload-Complete": "?0"])
        other.answer(409, sent: 5)
        other.answer(404)
        #expect(other.restart != nil)
    }

    @Test func version6CompletenessAfterAnErrorIsNoSuccess() {
        var script = Script.resumed(version: 6)
        script.answer(500)
        var next = Script(state: script.state)
        next.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
        #expect(next.restart != nil)
        var eight = Script.resumed(version: 8)
        eight.answer(502)
        var after = Script(state: eight.state)
        after.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
        #expect(after.restart == nil && after.sentBody == .bytes([]), "version 8 marks the target's errors")
        after.answer(200, ["Upload-Complete": "?1"])
        #expect(after.result != nil)
    }

    // MARK: Giving up

    @Test(arguments: [200, 202, 204, 404, 405, 410, 501])
    func abandoningRemovesTheUpload(status: Int) {
        var script = Script(state: Script.saved())
        script.abandon()
        #expect(script.sent == Script.delete)
        script.answer(status)
        #expect(script.result?.status == status)
    }

    @Test func abandoningAnUnstartedUploadSendsNothing() {
        var script = Script()
        script.abandon()
        #expect(script.result != nil)
    }

    @Test func aFailedAbandoningIsReported() {
        var script = Script(state: Script.saved())
        script.abandon()
        script.answer(503)
        #expect(script.failure?.isTransient == true)
        var lost = Script(state: Script.saved())
        lost.abandon()
        lost.lose(sent: 0)
        #expect(lost.failure?.code == .connectionLost)
    }

    @Test func eventsOfUnknownRequestsAreIgnored() {
        var script = Script.resumed()
        var dialogue = script.dialogue
        let head = ResponseHead(status: 500, fields: [])
        #expect(dialogue.handle(.answered(UploadAnswer(request: 99, head: head, url: Script.upload)), now: 0) == [])
        #expect(dialogue.handle(.interim(request: 99, head), now: 0) == [])
        #expect(dialogue.handle(.failed(request: 99, TransferError(.cancelled, "x"), sent: 0), now: 0) == [])
        script.answer(200, ["Upload-Complete": "?1"])
        #expect(script.result != nil)
    }
}
