import Testing
import TransferCore
import TransferUpload

struct ResumableCreationTests {
    private typealias Script = ResumableScript

    // MARK: Careful

    @Test func carefulCreationCarriesNoContentAndTheLength() {
        let script = Script(headers: [HeaderField("Content-Type", "image/png")])
        #expect(script.sent == Script.put)
        #expect(script.sentBody == .bytes([]))
        #expect(script.sentField("Upload-Draft-Interop-Version") == "8")
        #expect(script.sentField("Upload-Complete") == "?0")
        #expect(script.sentField("Upload-Length") == "100")
        #expect(script.sentField("Content-Type") == "image/png")
        #expect(script.sentField("Content-Disposition") == nil)
        #expect(script.actions.count == 1, "there is nothing to save yet")
    }

    @Test func aNewUploadsURLIsSavedBeforeAnythingIsSent() {
        var script = Script()
        script.answer(201, ["Location": "/uploads/u1", "Upload-Complete": "?0"])
        guard case .save(let text) = script.actions.first else {
            Issue.record("nothing saved")
            return
        }
        #expect(text.contains("\"url\":\"\(Script.upload)\""))
        #expect(text.contains("\"version\":8"))
        #expect(script.sent == Script.patch)
        #expect(script.sentBody == .source(0..<100))
        #expect(script.sentField("Upload-Offset") == "0")
        #expect(script.sentField("Upload-Complete") == "?1")
        #expect(script.sentField("Content-Type") == "application/partial-upload")
        #expect(script.sentField("Upload-Draft-Interop-Version") == "8")
    }

    @Test func a104OfACarefulCreationIsEnoughWhenItsAnswerIsLost() {
        var script = Script()
        script.interim(["Location": "/uploads/u1"])
        #expect(script.state?.contains(Script.upload) == true)
        script.lose(sent: 0)
        #expect(script.failure?.isTransient == true)
        let next = Script(state: script.state)
        #expect(next.sent == Script.head)
    }

    @Test func thePostOfAFileCarriesItsNameUnlessTheOwnerSaysOne() {
        let script = Script(method: "POST")
        #expect(script.sentField("Content-Disposition") == "inline; filename=\"a.bin\"")
        let own = Script(method: "POST", headers: [HeaderField("Content-Disposition", "inline; filename=b")])
        #expect(own.sentField("Content-Disposition") == "inline; filename=b")
    }

    @Test func digestsArePromisedAndAskedFor() throws {
        let digest = try #require(Checksum(.sha256, hex: String(repeating: "00ff", count: 16)))
        let script = Script(digest: digest, wantsDigest: true)
        #expect(
            script.sentField("Repr-Digest") == "sha-256=:AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8=:")
        #expect(script.sentField("Want-Repr-Digest") == "sha-256=10")
        let old = Script(digest: Checksum(.md5, hex: String(repeating: "0", count: 32)))
        #expect(old.sentField("Repr-Digest") == nil, "RFC 9530 §5 forbids it")
    }

    @Test func anEmptySourceIsCreatedAndCompletedWithoutContent() {
        var script = Script(size: 0)
        script.answer(201, ["Location": "/uploads/u1", "Upload-Complete": "?0"])
        #expect(script.sent == Script.patch)
        #expect(script.sentBody == .bytes([]))
        #expect(script.sentField("Upload-Offset") == "0")
        #expect(script.sentField("Upload-Complete") == "?1")
        script.answer(200, ["Upload-Complete": "?1"])
        #expect(script.result?.status == 200)
    }

    @Test func aLocationWithoutAMarkOfTheProtocolIsAskedFirst() {
        var script = Script(method: "POST")
        script.answer(201, ["Location": "/uploads/u1"])
        #expect(script.sent == Script.head)
        script.answer(204, ["Upload-Offset": "0", "Upload-Complete": "?0"])
        #expect(script.sent == Script.patch)
    }

    @Test func aLocationThatIsNoUploadLeadsToTheNextVersion() {
        var script = Script(method: "POST")
        script.answer(201, ["Location": "/uploads/u1"])
        script.answer(200, ["Content-Length": "0"])
        #expect(script.sent == Script.post)
        #expect(script.sentField("Upload-Draft-Interop-Version") == "6")
    }

    @Test func aTargetThatEndsTheUploadBeforeItBeganIsNoSuccess() {
        var script = Script()
        script.answer(200, ["Upload-Complete": "?1", "Location": "/uploads/u1"])
        #expect(script.failure?.code == .badResponse)
        #expect(script.failure?.isTransient == false)
    }

    // MARK: Versions

    @Test func theVersionThatARefusalNamesIsSpoken() {
        var script = Script()
        script.answer(400, ["Upload-Draft-Interop-Version": "6"])
        #expect(script.sent == Script.put)
        #expect(script.sentField("Upload-Draft-Interop-Version") == "6")
        script.answer(
            201, ["Location": "/uploads/u1", "Upload-Offset": "0", "Upload-Draft-Interop-Version": "6"])
        #expect(script.state?.contains("\"version\":6") == true)
        let next = Script(state: script.state)
        #expect(next.sentField("Upload-Draft-Interop-Version") == "6")
    }

    @Test(
        arguments: [(400, [:]), (412, [:]), (415, [:]), (501, [:]), (200, [:]), (204, [:])] as [(Int, [String: String])]
    )
    func anAnswerThatShowsNoTraceOfTheProtocolLeadsToTheNextVersion(status: Int, fields: [String: String]) {
        var script = Script()
        script.answer(status, fields)
        #expect(script.sent == Script.put)
        #expect(script.sentField("Upload-Draft-Interop-Version") == "6")
        script.answer(status, fields)
        #expect(script.sent == nil)
        #expect(script.failure?.isTransient == false)
        #expect(script.failure?.code == (status < 300 ? .badResponse : .httpStatus))
    }

    @Test(arguments: [401, 403, 404, 407, 410, 413, 429, 451, 500, 503])
    func aRefusalThatIsNotOfTheVersionIsTheEnd(status: Int) {
        var script = Script()
        script.answer(status)
        #expect(script.failure?.status == status)
        #expect(script.failure?.isTransient == [429, 500, 503].contains(status))
    }

    @Test func aRefusalInTheSameVersionIsNotOfTheVersion() {
        var script = Script()
        script.answer(400, ["Upload-Draft-Interop-Version": "8"])
        #expect(script.failure?.status == 400)
    }

    @Test func twoVersionsThatNameEachOtherComeToAnEnd() {
        var script = Script()
        script.answer(400, ["Upload-Draft-Interop-Version": "6"])
        script.answer(400, ["Upload-Draft-Interop-Version": "8"])
        #expect(script.failure?.status == 400)
    }

    @Test func a104OfNoOrAnotherVersionIsIgnored() {
        var script = Script(.upgrade)
        script.interim(["Location": "/uploads/u1"], version: nil)
        #expect(script.actions == [])
        script.interim(["Location": "/uploads/u1"], version: 6)
        #expect(script.actions == [])
        script.lose(sent: 50)
        #expect(script.state == nil)
    }

    // MARK: Upgrade

    @Test func anUpgradeCarriesTheWholeContentAndTheOffer() {
        let script = Script(.upgrade, method: "POST", chunkSize: 10)
        #expect(script.sent == Script.post)
        #expect(script.sentBody == .source(0..<100))
        #expect(script.sentField("Upload-Complete") == "?1")
        #expect(script.sentField("Upload-Length") == "100")
        #expect(script.sentField("Upload-Draft-Interop-Version") == "8")
        #expect(script.sentField("Content-Disposition") == nil, "the request is not changed otherwise")
    }

    @Test func aServerThatOffersNothingAnswersAPlainRequest() {
        var script = Script(.upgrade, method: "POST")
        script.answer(201, ["Location": "/in/17", "ETag": "\"x\""], body: "thanks")
        #expect(script.actions.first == .confirmed(100))
        #expect(
            script.result
                == UploadResult(url: "https://files.example/in/17", status: 201, validator: "\"x\"", response: "thanks")
        )
    }

    @Test func anOfferIsSavedAtOnceAndResumedFrom() {
        var script = Script(.upgrade)
        script.interim(["Location": "/uploads/u1", "Upload-Limit": "max-age=3600"])
        #expect(script.actions.count == 1)
        #expect(script.state?.contains("\"expires\":4600") == true)
        script.lose(sent: 50)
        #expect(script.failure?.code == .connectionLost)
        var next = Script(.upgrade, state: script.state)
        #expect(next.sent == Script.head)
        next.answer(204, ["Upload-Offset": "30", "Upload-Complete": "?0", "Upload-Length": "100"])
        #expect(next.sent == Script.patch)
        #expect(next.sentBody == .source(30..<100))
    }

    @Test func progressOfA104IsConfirmed() {
        var script = Script(.upgrade)
        script.interim(["Location": "/uploads/u1"])
        script.interim(["Upload-Offset": "30"])
        #expect(script.actions == [.confirmed(30)])
        script.interim(["Upload-Offset": "101"])
        #expect(script.actions == [])
        script.interim(["Upload-Offset": "3x"])
        #expect(script.actions == [])
    }

    @Test func progressBeforeTheUploadsURLIsNoPromise() {
        var script = Script(.upgrade)
        script.interim(["Upload-Offset": "30"])
        #expect(script.actions == [])
    }

    @Test func twoLocationsForOneUploadEndIt() {
        var script = Script(.upgrade)
        script.interim(["Location": "/uploads/u1"])
        let request = script.request?.id ?? 0
        script.interim(["Location": "/uploads/u2"])
        #expect(script.actions.first == .stop(request: request))
        #expect(script.sent == Script.delete)
        script.answer(204)
        #expect(script.failure?.code == .badResponse)
        #expect(script.state?.contains("\"url\"") == false)
    }

    @Test func aLocationIsRelativeToWhereARedirectHasLed() {
        let moved = "https://other.example/b/a.bin"
        var script = Script(.upgrade)
        script.interim(["Location": "u7"], url: moved)
        #expect(script.state?.contains("\"https://other.example/b/u7\"") == true)
        var careful = Script()
        careful.interim(["Location": "u7"])
        careful.answer(201, ["Location": "u7", "Upload-Complete": "?0"], url: moved)
        #expect(careful.sent == "PATCH https://other.example/b/u7")
    }

    @Test func twoLocationsOfACarefulCreationEndIt() {
        var script = Script()
        script.interim(["Location": "/uploads/u1"])
        script.answer(201, ["Location": "/uploads/u2", "Upload-Complete": "?0"])
        #expect(script.sent == Script.delete)
        script.answer(204)
        #expect(script.failure?.code == .badResponse)
    }

    @Test func aLocationThatIsNoURLIsNoOffer() {
        var script = Script(.upgrade)
        script.interim(["Location": "mailto:x@y"])
        #expect(script.actions == [])
    }

    @Test func anUpgradeThatTheServerStoppedResumesAtTheUpload() {
        var script = Script(.upgrade)
        script.answer(200, ["Location": "/uploads/u1", "Upload-Complete": "?0"])
        #expect(script.sent == Script.head)
        var nowhere = Script(.upgrade)
        nowhere.answer(200, ["Upload-Complete": "?0"])
        #expect(nowhere.failure?.code == .badResponse)
    }

    @Test func anUpgradeRefusedForItsVersionIsRepeatedInTheServers() {
        var script = Script(.upgrade, method: "POST")
        script.answer(400, ["Upload-Draft-Interop-Version": "6"])
        #expect(script.sent == Script.post)
        #expect(script.sentBody == .source(0..<100))
        #expect(script.sentField("Upload-Draft-Interop-Version") == "6")
        script.interim(["Location": "/uploads/u1"], version: 6)
        #expect(script.state?.contains("\"version\":6") == true)
    }

    @Test func anUpgradeRefusedOtherwiseIsRefused() {
        var script = Script(.upgrade)
        script.answer(400)
        #expect(script.failure?.status == 400)
        #expect(script.failure?.isTransient == false)
    }

    @Test func aPostThatWasLostWithoutAnOfferIsNotRepeated() {
        var script = Script(.upgrade, method: "POST")
        script.lose(sent: 1)
        #expect(script.failure?.code == .mayHaveBeenSent)
        #expect(script.failure?.isTransient == false)
    }

    @Test func aPostOfWhichNothingLeftIsRepeated() {
        var script = Script(.upgrade, method: "POST")
        script.lose(sent: 0)
        #expect(script.failure?.code == .connectionLost)
        #expect(script.failure?.isTransient == true)
    }

    @Test func anEmptyPostIsRepeatedOnlyWhenItCannotHaveArrived() {
        var script = Script(.upgrade, method: "POST", size: 0)
        script.lose(sent: 0)
        #expect(script.failure?.code == .mayHaveBeenSent)
        var refused = Script(.upgrade, method: "POST", size: 0)
        refused.lose(sent: 0, code: .cannotConnect)
        #expect(refused.failure?.code == .cannotConnect)
    }

    @Test func aPutThatWasLostWithoutAnOfferIsRepeated() {
        var script = Script(.upgrade)
        script.lose(sent: 99)
        #expect(script.failure?.code == .connectionLost)
        #expect(script.failure?.isTransient == true)
    }

    /// Without an offer the request was a plain PUT, and the next attempt asks whether the file has arrived.
    @Test func aPutThatLeftWholeWithoutAnOfferIsAskedForNext() {
        var script = Script(.upgrade, now: 5000)
        script.lose(sent: 100)
        #expect(script.failure?.code == .connectionLost && script.state == ConfirmingPut.state(began: 5000))
        var other = Script(.upgrade, method: "PATCH")
        other.lose(sent: 100)
        #expect(other.failure != nil && other.state.map { ConfirmingPut.isState($0) } != true)
        var empty = Script(.upgrade, size: 0)
        empty.lose(sent: 0)
        #expect(empty.state.map { ConfirmingPut.isState($0) } == true)
        // A PUT with an offer of resumption is asked about at the URL of the upload.
        var offered = Script(.upgrade)
        offered.interim(["Location": Script.upload])
        offered.lose(sent: 100)
        #expect(offered.state?.canAsk == true)
    }

    @Test func anErrorOutsideTheNetworkIsKept() {
        var script = Script(.upgrade, method: "POST")
        script.lose(sent: 10, code: .sourceChanged, isTransient: false)
        #expect(script.failure?.code == .sourceChanged)
    }

    @Test func aPutLostLateWithoutAnOfferIsOfferedInTheOtherVersionNext() {
        var script = Script(.upgrade, size: 3 << 20)
        script.lose(sent: 2 << 20)
        var next = Script(.upgrade, size: 3 << 20, state: script.state)
        #expect(next.sentField("Upload-Draft-Interop-Version") == "6")
        next.lose(sent: 2 << 20)
        let third = Script(.upgrade, size: 3 << 20, state: next.state)
        #expect(third.sentField("Upload-Draft-Interop-Version") == "8")
    }

    @Test func anErrorOfAPostThatMayHaveBegunIsNotRepeated() {
        for (status, isTransient) in [
            (500, false), (502, false), (504, false), (520, false), (599, false), (503, true), (429, true), (425, true),
        ] {
            var script = Script(.upgrade, method: "POST")
            script.answer(status)
            if DeliveryRule.leavesOpen(status) {
                #expect(script.failure?.code == .mayHaveBeenSent && script.failure?.isTransient == false, "\(status)")
            } else {
                #expect(script.failure?.status == status)
                #expect(script.failure?.isTransient == isTransient, "\(status)")
            }
            var put = Script(.upgrade)
            put.answer(status)
            #expect(put.failure?.isTransient == true, "\(status)")
        }
    }

    @Test func anErrorAfterAnOfferLeavesTheUploadToResume() {
        var script = Script(.upgrade, method: "POST")
        script.interim(["Location": "/uploads/u1"])
        script.answer(503, sent: 40)
        #expect(script.failure?.isTransient == true)
        let next = Script(.upgrade, method: "POST", state: script.state)
        #expect(next.sent == Script.head)
    }
}
