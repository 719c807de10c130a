import Testing
import TransferCore
import TransferUpload

extension ResumableAppendTests {
    // MARK: Answers to PATCH

    @Test func theFinalAnswerIsTheResult() throws {
        var script = Script.resumed()
        script.answer(
            201,
            [
                "Upload-Complete": "?1", "Location": "/in/a.bin?v=2", "ETag": "W/\"2\"",
                "Repr-Digest": "sha-256=:AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8=:",
            ], body: "done")
        let digest = Checksum(.sha256, hex: String(repeating: "00ff", count: 16))
        #expect(script.actions.first == .confirmed(100))
        #expect(
            script.result
                == UploadResult(
                    url: "https://files.example/in/a.bin?v=2", status: 201, validator: "W/\"2\"", digest: digest,
                    response: "done"))
    }

    @Test func anErrorOfTheTargetIsTheEndAndTheUploadForgotten() {
        for status in [400, 404, 409, 422, 503] {
            var script = Script.resumed()
            script.answer(status, ["Upload-Complete": "?1"])
            #expect(script.failure?.status == status)
            #expect(script.state?.contains("\"url\"") == false, "HEAD would call it complete")
        }
    }

    @Test func anAmbiguousSuccessIsAskedAboutInVersion8() {
        var script = Script.resumed()
        script.answer(200, ["ETag": "\"1\""], body: "stored")
        #expect(script.sent == Script.head)
        script.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
        #expect(script.result?.response == "stored")
        #expect(script.result?.validator == "\"1\"")

        var cleaned = Script.resumed()
        cleaned.answer(200)
        cleaned.answer(404)
        #expect(cleaned.result?.status == 200, "it was cleaned up at once")

        var incomplete = Script.resumed()
        incomplete.answer(200)
        incomplete.answer(204, ["Upload-Offset": "70", "Upload-Complete": "?0"])
        #expect(incomplete.sentBody == .source(70..<100))
    }

    @Test func aSuccessOfTheLastBytesIsTheTargetsInVersion6() {
        var script = Script.resumed(version: 6)
        script.answer(200, ["Upload-Incomplete": "?0", "Upload-Offset": "100"], body: "stored")
        #expect(script.result?.response == "stored")
    }

    @Test func aSuccessThatSaysIncompleteAfterTheLastBytesIsAskedAbout() {
        for version in [6, 8] {
            var script = Script.resumed(version: version)
            script.answer(204, ["Upload-Complete": "?0"])
            #expect(script.sent == Script.head)
        }
    }

    @Test func aServerThatNeverCallsItCompleteEndsTheAttempt() {
        var script = Script.resumed()
        var rounds = 0
        while script.failure == nil, rounds < 50 {
            script.answer(200)
            script.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?0"])
            rounds += 1
        }
        #expect(script.failure?.isTransient == true)
        #expect(rounds < 10)
    }

    @Test func anUploadEndedByTheServerBeforeItsLastPartIsNoSuccess() {
        var script = Script.resumed(at: 0, chunkSize: 40)
        script.answer(200, ["Upload-Complete": "?1"])
        #expect(script.failure?.code == .badResponse)
    }

    @Test func aConflictIsResolvedByItsOffset() {
        var script = Script.resumed(at: 40)
        script.answer(
            409,
            ["Upload-Offset": "25", "Upload-Complete": "?0", "Content-Type": "application/problem+json"],
            body: "{\"type\":\"\(Self.problems)mismatching-upload-offset\",\"expected-offset\":25}")
        #expect(script.actions.first == .confirmed(25))
        #expect(script.sentBody == .source(25..<100))
    }

    @Test(arguments: [[:], ["Upload-Offset": "40"], ["Upload-Offset": "101"], ["Upload-Offset": "x"]])
    func aConflictWithoutANewOffsetIsAskedAbout(fields: [String: String]) {
        var script = Script.resumed(at: 40)
        script.answer(409, fields)
        #expect(script.sent == Script.head)
    }

    @Test func conflictsWithoutEndEndTheAttempt() {
        var script = Script.resumed(at: 40)
        var rounds = 0
        while script.failure == nil, rounds < 50 {
            script.answer(409, ["Upload-Offset": rounds % 2 == 0 ? "25" : "40"])
            rounds += 1
        }
        #expect(script.failure?.status == 409)
        #expect(rounds < 10)
    }

    @Test(arguments: [404, 410])
    func anUploadThatIsGoneInTheMiddleIsBegunAnew(status: Int) {
        var script = Script.resumed("POST")
        script.answer(status, sent: 10)
        #expect(script.restart != nil)
        #expect(script.sent == Script.post)
    }

    @Test func anInconsistentLengthIsRemovedAndBegunAnew() {
        var script = Script.resumed()
        script.answer(
            400, ["Upload-Complete": "?0", "Content-Type": "application/problem+json"],
            body: "{\"type\":\"\(Self.problems)inconsistent-upload-length\",\"title\":\"x\"}")
        #expect(script.sent == Script.delete)
        script.answer(204)
        #expect(script.restart != nil)
    }

    @Test func aCompletedUploadOfVersion6IsAskedAbout() {
        var script = Script.resumed(version: 6)
        script.answer(
            400, ["Content-Type": "application/problem+json"], body: "{\"type\":\"\(Self.problems)completed-upload\"}")
        #expect(script.sent == Script.head)
        script.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])
        #expect(script.result != nil)
    }

    @Test(arguments: [(400, false), (403, false), (415, false), (423, true), (500, true), (502, true), (504, true)])
    func anErrorOfTheUploadIsJudgedByItsStatus(status: Int, isTransient: Bool) {
        var script = Script.resumed("POST")
        script.answer(status, ["Upload-Complete": "?0"], sent: 10)
        #expect(script.failure?.status == status)
        #expect(script.failure?.isTransient == isTransient)
        let next = Script(method: "POST", state: script.state)
        #expect(next.sent == Script.head)
    }

    @Test func aLostPartFailsAsItWasLost() {
        var script = Script.resumed()
        script.lose(sent: 10)
        #expect(script.failure?.code == .connectionLost)
        #expect(script.failure?.isTransient == true)
    }
}
