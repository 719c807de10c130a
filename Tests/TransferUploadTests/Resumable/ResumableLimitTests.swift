import Testing
import TransferCore
import TransferUpload

/// The limits of a server on the whole upload, on its parts, and on the smallest size.
struct ResumableLimitTests {
    private typealias Script = ResumableScript

    @Test func aFileOverTheServersLimitIsGivenUpAndTheUploadRemoved() {
        var script = Script()
        script.answer(201, ["Location": "/uploads/u1", "Upload-Limit": "max-size=99"])
        #expect(script.sent == Script.delete)
        script.answer(204)
        #expect(script.failure?.code == .invalidRequest)
        #expect(script.failure?.isTransient == false)

        var upgrade = Script(.upgrade)
        upgrade.interim(["Location": "/uploads/u1", "Upload-Limit": "max-size=99"])
        #expect(upgrade.actions.contains(.stop(request: 1)))
        #expect(upgrade.sent == Script.delete)

        var refused = Script()
        refused.answer(413, ["Upload-Limit": "max-size=99"])
        #expect(refused.failure?.code == .invalidRequest)
    }

    @Test func aLimitOnPartsStopsTheWholeUploadAndContinuesInParts() {
        var script = Script(.upgrade)
        script.interim(["Location": "/uploads/u1", "Upload-Limit": "max-append-size=30"])
        #expect(script.actions.contains(.stop(request: 1)))
        #expect(script.sent == Script.head)
        script.answer(204, ["Upload-Offset": "10", "Upload-Complete": "?0"])
        #expect(script.sentBody == .source(10..<40))
    }

    /// "A client that is aware of this limit MUST NOT send larger upload append or upload creation requests."
    @Test func aFileOverTheLimitOnPartsIsNeverSentWholeAgain() {
        var script = Script(.upgrade)
        script.interim(["Location": "/uploads/u1", "Upload-Limit": "max-append-size=30"])
        script.answer(404)
        #expect(script.sent == Script.put)
        #expect(script.sentBody == .bytes([]))
        #expect(script.sentField("Upload-Complete") == "?0")
        script.answer(201, ["Location": "/uploads/u2", "Upload-Complete": "?0"])
        #expect(script.sentBody == .source(0..<30))
        script.lose(sent: 0)
        var next = Script(.upgrade, state: script.state)
        next.answer(404)
        #expect(next.sentBody == .bytes([]))
    }

    @Test func aWholeThatIsTooLargeIsCreatedCarefullyWhereTheServerKnowsHow() {
        var script = Script(.upgrade)
        script.answer(413, ["Upload-Limit": "max-append-size=30"])
        #expect(script.sent == Script.put)
        #expect(script.sentField("Upload-Complete") == "?0")
        script.answer(201, ["Location": "/uploads/u1", "Upload-Complete": "?0"])
        #expect(script.sentBody == .source(0..<30))
        var plain = Script(.upgrade)
        plain.answer(413)
        #expect(plain.failure?.status == 413)
    }

    @Test func aFileTooLargeForOneRequestIsNotSentWholeAgain() {
        var script = Script(.upgrade, size: 10_000)
        script.interim(["Location": "/uploads/u1"])
        script.answer(413)
        #expect(script.sent == Script.head)
        script.answer(404)
        #expect(script.state?.contains("\"cap\":5000") == true)
        script.lose(sent: 0)
        let next = Script(.upgrade, size: 10_000, state: script.state)
        #expect(next.sentField("Upload-Complete") == "?0")
        #expect(next.sentBody == .bytes([]))
    }

    @Test func aPostThatWasStoppedForALimitMayHaveBeenAppliedAllTheSame() {
        var script = Script(.upgrade, method: "POST")
        script.interim(["Location": "/uploads/u1", "Upload-Limit": "max-append-size=30"])
        script.answer(404)
        #expect(script.failure?.code == .mayHaveBeenSent)
    }

    @Test func aFileTooSmallToBeResumableGoesAsAPlainRequest() {
        var script = Script()
        script.answer(400, ["Upload-Limit": "min-size=1000"])
        #expect(script.sent == Script.put)
        #expect(script.sentBody == .source(0..<100))
        #expect(script.sentField("Upload-Complete") == "?1")
        script.answer(201)
        #expect(script.result?.status == 201)
    }
}
