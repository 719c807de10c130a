import Testing
import TransferCore

@testable import TransferUpload

@Suite struct TusOffsetTests {
    private typealias Script = DialogueScript<TusDialogue>

    // MARK: - A later attempt

    @Test func theOffsetIsAskedBeforeAnythingIsSent() throws {
        var script = Script.resumed()
        let head = try #require(script.request)
        #expect(script.actions == [.send(head)])
        #expect(head.method == "HEAD")
        #expect(head.url == "https://h.test/files/u1")
        #expect(head.field("Tus-Resumable") == "1.0.0")
        script.answer(200, [("Upload-Offset", "70"), ("Upload-Length", "100")])
        #expect(script.confirmed == 70)
        #expect(script.request?.field("Upload-Offset") == "70")
        #expect(script.request?.body == .source(70..<100))
        script.answer(204, [("Upload-Offset", "100")])
        #expect(script.confirmed == 100)
        #expect(script.result == UploadResult(url: "https://h.test/files/u1", status: 204))
    }

    @Test func anUploadWhoseFinalAnswerWasLostIsFoundComplete() throws {
        var script = Script.resumed()
        script.answer(200, [("Upload-Offset", "100"), ("Upload-Length", "100")])
        #expect(script.requests.isEmpty)
        #expect(script.result?.url == "https://h.test/files/u1")
    }

    @Test(arguments: [404, 410])
    func anUploadThatIsGoneIsCreatedAnew(_ status: Int) throws {
        var script = Script.resumed()
        script.answer(status)
        #expect(script.restart?.contains("\(status)") == true)
        #expect(script.request?.method == "POST")
        script.answer(201, [("Location", "/files/u2")])
        #expect(script.request?.url == "https://h.test/files/u2")
        #expect(script.request?.body == .source(0..<100))
    }

    @Test func anExpiredUploadIsAskedForAllTheSameAndItsDateIsNamedWhenItIsGone() throws {
        var script = Script.resumed(fields: [("Upload-Expires", "Wed, 25 Jun 2014 16:00:00 GMT")])
        #expect(script.request?.method == "HEAD")
        script.answer(410)
        #expect(script.restart?.hasSuffix("it expired on Wed, 25 Jun 2014 16:00:00 GMT") == true)

        var kept = Script.resumed(fields: [("Upload-Expires", "Wed, 25 Jun 2014 16:00:00 GMT")])
        kept.answer(200, [("Upload-Offset", "70")])
        #expect(kept.request?.body == .source(70..<100))
    }

    @Test func anInvalidDateIsIgnored() throws {
        let script = Script.created(fields: [("Upload-Expires", "tomorrow")])
        #expect(script.request?.method == "PATCH")
    }

    @Test(arguments: [("101", "100"), ("0", "99"), ("50", "200"), ("9223372036854775807", "100")])
    func anUploadThatCannotBeOursIsCreatedAnew(_ offset: String, _ length: String) throws {
        var script = Script.resumed()
        script.answer(200, [("Upload-Offset", offset), ("Upload-Length", length)])
        #expect(script.restart != nil)
        #expect(script.request?.method == "POST")
    }

    @Test(arguments: [nil, "", "x", "-1", "+5", "1.5", "5, 5", "0x10", "99999999999999999999", "५"])
    func anOffsetThatIsNoNumberFails(_ offset: String?) throws {
        let fields = offset.map { [("Upload-Offset", $0)] } ?? []
        var resumed = Script.resumed()
        resumed.answer(200, fields)
        // An inconclusive answer ends no upload that can be restarted.
        #expect(resumed.restart?.contains("Upload-Offset") == true)
        #expect(resumed.request?.method == "POST")

        var sent = Script.created()
        sent.answer(204, fields)
        #expect(sent.failure?.code == .badResponse)
        #expect(sent.failure?.message.contains("Upload-Offset") == true)
    }

    @Test func aLengthThatIsNoNumberFails() throws {
        var script = Script.resumed()
        script.answer(200, [("Upload-Offset", "5"), ("Upload-Length", "-100")])
        #expect(script.failure?.code == .badResponse)
    }

    @Test(arguments: [500, 502, 503, 504])
    func aHeadThatIsRefusedForNowLosesNothing(_ status: Int) throws {
        var script = Script.resumed()
        script.answer(status)
        #expect(script.failure?.isTransient == true)
        #expect(script.saved.isEmpty, "what is kept stays as it was")
    }

    /// A 400 from tuspyserver, or a 403 from a policy: the answer to the creation decides whether the file is accepted.
    @Test(arguments: [400, 401, 403, 405])
    func aHeadThatIsRefusedEndsNoUploadAndForgetsNone(_ status: Int) throws {
        var script = Script.resumed()
        script.answer(status)
        #expect(script.restart?.contains("\(status)") == true && script.request?.method == "POST")
        #expect(script.saved.isEmpty, "the former one is asked about again, if there will be no other")
        script.answer(201, [("Location", "/files/u2")])
        // The former upload is removed during the first bytes of the new one, once the new state is saved.
        guard case .save(let text)? = script.actions.first else { return #expect(Bool(false), "\(script.actions)") }
        #expect(text.contains("/files/u2") && text.contains("/files/u1"))
        let (delete, patch) = (try #require(script.requests.first), try #require(script.requests.last))
        #expect(delete.method == "DELETE" && delete.url == "https://h.test/files/u1")
        #expect(patch.method == "PATCH" && patch.url == "https://h.test/files/u2")
        script.answer(204, [("Upload-Offset", "100")], to: patch)
        #expect(script.result == nil, "it is not forgotten by the end")
        script.answer(403, to: delete)
        #expect(script.result?.url == "https://h.test/files/u2")
    }

    @Test func aFailedTerminationIsRepeatedByTheNextAttempt() throws {
        var script = Script.resumed()
        script.answer(403)
        script.answer(201, [("Location", "/files/u2")])
        let (delete, patch) = (try #require(script.requests.first), try #require(script.requests.last))
        script.lose(of: delete)
        script.lose(sent: 10, of: patch)
        #expect(script.failure?.isTransient == true)
        let next = tus(state: try script.kept())
        #expect(next.requests.map { "\($0.method) \($0.url.suffix(2))" } == ["DELETE u1", "HEAD u2"])
        var given = DialogueScript(
            abandoning: TusDialogue(
                url: "https://h.test/files", source: UploadSource(name: "film.mp4", size: 100),
                state: try script.kept()))
        #expect(given.requests.map { String($0.url.suffix(2)) } == ["u2", "u1"])
        for request in given.requests { given.answer(204, to: request) }
        #expect(given.result != nil)
    }

    @Test func aStateThatCannotBeReadOrIsOfAnotherFileBeginsAnew() throws {
        let saved = try Script.created().kept()
        for (script, words) in [
            (tus(state: "{"), "cannot be read"), (tus(state: ""), "cannot be read"),
            (tus(state: saved.replacing("\"to\":100", with: "\"to\":99")), "cannot be read"),
            (tus(state: saved.replacing("\"version\":1", with: "\"version\":2")), "cannot be read"),
            (tus(size: 101, state: saved), "101 bytes"),
            (tus(url: "https://h.test/other", state: saved), "another URL"),
        ] {
            #expect(script.restart?.contains(words) == true)
            #expect(script.request?.method == "POST")
        }
        #expect(tus(state: saved).request?.method == "HEAD")
    }

    @Test func aFileOfAnotherDigestBeginsAnew() throws {
        let one = try Checksum.sha256(String(repeating: "1", count: 64))
        let two = try Checksum.sha256(String(repeating: "2", count: 64))
        let other = Checksum(.md5, hex: String(repeating: "3", count: 32))
        var script = tus(digest: one)
        script.answer(201, [("Location", "/files/u1")])
        let saved = try script.kept()
        #expect(tus(digest: one, state: saved).request?.method == "HEAD")
        #expect(tus(digest: nil, state: saved).request?.method == "HEAD")
        #expect(tus(digest: other, state: saved).request?.method == "HEAD")
        #expect(tus(digest: two, state: saved).restart == "the file has changed")
    }

    // MARK: - Chunks

    @Test func chunksFollowEachOtherByTheServersOffset() throws {
        var script = Script.created(TusOptions(chunkSize: 40))
        #expect(script.request?.body == .source(0..<40))
        script.answer(204, [("Upload-Offset", "40")])
        #expect(script.request?.body == .source(40..<80))
        script.answer(204, [("Upload-Offset", "70")])
        #expect(script.confirmed == 70)
        #expect(script.request?.body == .source(70..<100), "what the server did not keep goes again")
        #expect(script.saved.count == 2, "an offset is asked for, not kept; that the end is coming is")
    }

    @Test(arguments: [0, -5, Int64.min])
    func aChunkIsAtLeastAByte(_ size: Int64) throws {
        #expect(Script.created(TusOptions(chunkSize: size)).request?.body == .source(0..<1))
    }

    @Test func aChunkAsLargeAsCanBeIsTheRest() throws {
        #expect(Script.created(TusOptions(chunkSize: .max)).request?.body == .source(0..<100))
    }

    @Test func aServerThatHasLessThanBeforeIsFollowed() throws {
        var script = Script.created(TusOptions(chunkSize: 40))
        script.answer(204, [("Upload-Offset", "40")])
        script.answer(204, [("Upload-Offset", "10")])
        #expect(script.confirmed == 10)
        #expect(script.request?.body == .source(10..<50))
    }

    @Test func aServerWhoseOffsetAlwaysFallsIsGivenUp() throws {
        var script = Script.created(TusOptions(chunkSize: 40))
        var rounds = 0
        while script.failure == nil, rounds < 50 {
            script.answer(204, [("Upload-Offset", rounds % 2 == 0 ? "40" : "10")])
            rounds += 1
        }
        #expect(script.failure?.isTransient == true)
        #expect(rounds == 4, "nearly the same is sent twice in an attempt")
    }

    @Test func aServerThatKeepsNothingIsGivenUp() throws {
        var script = Script.created()
        script.answer(204, [("Upload-Offset", "0")])
        #expect(script.request?.method == "PATCH" && script.failure == nil)
        script.answer(204, [("Upload-Offset", "0")])
        #expect(script.failure?.isTransient == true)
    }

    @Test func aServerThatHasMoreThanWasSentFails() throws {
        var script = Script.created(TusOptions(chunkSize: 40))
        script.answer(204, [("Upload-Offset", "41")])
        #expect(script.failure?.code == .badResponse)
    }

    @Test func aCutChunkFailsWithItsErrorForTheOwnerToTryAgain() throws {
        var script = Script.created()
        script.lose(sent: 30)
        #expect(script.actions.count == 2, "what is not at its end is written down as that")
        #expect(script.failure?.code == .connectionLost)
        #expect(script.failure?.isTransient == true)
    }

    @Test(arguments: [500, 502, 503, 504])
    func aChunkThatIsRefusedForNowFailsForNow(_ status: Int) throws {
        var script = Script.created()
        script.answer(status)
        #expect(script.failure?.isTransient == true)
    }

    @Test(arguments: [400, 401, 403, 415])
    func aChunkThatIsRefusedFailsForGood(_ status: Int) throws {
        var script = Script.created()
        script.answer(status)
        #expect(script.failure?.status == status)
        #expect(script.failure?.isTransient == false)
    }

    @Test func aConflictIsAskedAboutOnceAndResumedFromItsOffset() throws {
        var script = Script.created()
        script.answer(409)
        #expect(script.request?.method == "HEAD")
        script.answer(200, [("Upload-Offset", "60")])
        #expect(script.request?.body == .source(60..<100))
        script.answer(204, [("Upload-Offset", "100")])
        #expect(script.result != nil)
    }

    @Test func aSecondConflictWithoutProgressFailsForNow() throws {
        var script = Script.created()
        script.answer(409)
        script.answer(200, [("Upload-Offset", "0")])
        script.answer(409)
        #expect(script.requests.isEmpty)
        #expect(script.failure?.isTransient == true)
        #expect(script.failure?.status == nil, "409 by itself would say: never")
    }

    @Test(arguments: [404, 410])
    func anUploadThatExpiresUnderWayIsCreatedAnewButNotForEver(_ status: Int) throws {
        var script = Script.created(TusOptions(chunkSize: 40))
        for round in 1...3 {
            script.answer(status)
            #expect(script.restart != nil)
            #expect(script.request?.method == "POST")
            script.answer(201, [("Location", "/files/again\(round)")])
            #expect(script.request?.url == "https://h.test/files/again\(round)")
        }
        script.answer(status)
        #expect(script.failure?.status == status)
    }

    /// A server removes a complete upload, whose last bytes had all been sent.
    @Test(arguments: [404, 410])
    func anUploadThatIsGoneAfterItsLastBytesMayHaveArrived(_ status: Int) throws {
        var sent = Script.created()
        sent.answer(status)
        #expect(sent.failure?.code == .mayHaveBeenSent && sent.failure?.isTransient == false)
        var lost = Script.created()
        lost.lose(sent: 100)
        let state = try #require(lost.saved.last ?? Script.created().saved.last)
        var next = tus(size: 100, TusOptions(), state: state)
        next.answer(status)
        #expect(next.failure?.code == .mayHaveBeenSent)
        // A user's explicit repetition starts from the beginning.
        #expect(tus(size: 100, TusOptions(), state: next.saved.last).request?.method == "POST")
    }

    /// A proxy in front of the server limits the size of a request.
    @Test func aRequestThatIsTooLargeIsMadeSmallerAndThatIsKept() throws {
        var script = Script.created(size: 5_000_000)
        #expect(script.request?.body == .source(0..<5_000_000))
        script.answer(413)
        #expect(script.request?.method == "HEAD")
        script.answer(200, [("Upload-Offset", "0"), ("Upload-Length", "5000000")])
        #expect(script.request?.body == .source(0..<4 << 20))
        script.answer(413)
        script.answer(200, [("Upload-Offset", "0"), ("Upload-Length", "5000000")])
        #expect(script.request?.body == .source(0..<1 << 20))
        var next = tus(size: 5_000_000, TusOptions(), state: script.saved.last)
        next.answer(200, [("Upload-Offset", "0"), ("Upload-Length", "5000000")])
        #expect(next.request?.body == .source(0..<1 << 20))
    }

    @Test func aLockedUploadFailsForNow() throws {
        for var script in [Script.created(), Script.resumed()] {
            script.answer(423, [("Retry-After", "3")])
            #expect(script.failure?.isTransient == true)
            #expect(script.failure?.status == nil, "no rule for statuses may call it permanent")
            #expect(script.failure?.retryAfter == .seconds(3))
        }
    }

    @Test func unexpectedAndInterimAnswersAreIgnored() throws {
        var script = Script.created()
        let patch = try #require(script.request)
        script.hear(script.dialogue.handle(.interim(request: patch.id, ResponseHead(status: 104, fields: [])), now: 0))
        #expect(script.actions.isEmpty)
        script.hear(script.dialogue.handle(.failed(request: 99, TransferError(.timedOut, "x"), sent: 0), now: 0))
        #expect(script.actions.isEmpty)
        script.answer(204, [("Upload-Offset", "100")], to: patch)
        #expect(script.result != nil)
        script.answer(204, [("Upload-Offset", "100")], to: patch)
        #expect(script.actions.isEmpty, "it ends once")
    }
}
