import Testing
import TransferCore

@testable import TransferUpload

@Suite struct TusCreationTests {
    @Test func createsWithLengthVersionAndMetadata() throws {
        let script = tus(name: "a b.mp4", TusOptions(metadata: [TusMetadata("album", "Ö"), TusMetadata("empty", "")]))
        let request = try #require(script.request)
        #expect(script.actions == [.send(request)], "nothing is worth saving before there is a URL")
        #expect(request.method == "POST")
        #expect(request.url == "https://h.test/files")
        #expect(request.body == .none)
        #expect(request.field("Tus-Resumable") == "1.0.0")
        #expect(request.field("Upload-Length") == "100")
        #expect(request.field("Upload-Metadata") == "album w5Y=,empty,filename YSBiLm1wNA==,filetype dmlkZW8vbXA0")
    }

    @Test func metadataOfTheCallersTakesThePlaceOfTheDefaults() throws {
        let script = tus(TusOptions(metadata: [TusMetadata("filetype", "x/y"), TusMetadata("filename", "n")]))
        #expect(script.request?.field("Upload-Metadata") == "filetype eC95,filename bg==")
    }

    @Test(arguments: ["", "a b", "a,b", "Ä", "a\r\nX: y"])
    func invalidMetadataNamesAreRefusedBeforeAnythingIsSent(_ name: String) throws {
        let script = tus(TusOptions(metadata: [TusMetadata(name, "v")]))
        #expect(script.actions.count == 1)
        #expect(script.failure?.code == .invalidRequest)
    }

    @Test(
        arguments: [
            ("/files/u1", "https://h.test/files", "https://h.test/files/u1"),
            ("u1", "https://h.test/files/", "https://h.test/files/u1"),
            ("https://other.test/u1", "https://h.test/files", "https://other.test/u1"),
            ("//other.test/u1", "https://h.test/files", "https://other.test/u1"),
            ("../u1#x", "https://moved.test/a/b/c", "https://moved.test/a/u1"),
            ("https://user:pw@h.test/u 1", "https://h.test/files", "https://h.test/u%201"),
        ] as [(String, String, String)])
    func locationIsResolvedAgainstWhereTheAnswerCameFrom(_ location: String, _ from: String, _ expected: String) throws
    {
        var script = tus()
        script.answer(201, [("Location", location)], url: from)
        #expect(script.request?.method == "PATCH")
        #expect(script.request?.url == expected)
    }

    @Test(arguments: [nil, "", "mailto:a@b", "ftp://h.test/u1", "https:///u1"])
    func aCreationWithoutAUsableLocationFails(_ location: String?) throws {
        var script = tus()
        script.answer(201, location.map { [("Location", $0)] } ?? [])
        #expect(script.failure?.code == .badResponse)
        #expect(script.failure?.isTransient == false)
    }

    @Test func aLocationWithoutTLSIsRefusedAfterACreationWithTLS() throws {
        var script = tus()
        script.answer(201, [("Location", "http://h.test/files/u1")])
        #expect(script.failure?.code == .redirectRefused)

        var plain = tus(url: "http://h.test/files")
        plain.answer(201, [("Location", "http://h.test/files/u1")])
        #expect(plain.request?.url == "http://h.test/files/u1")
    }

    @Test func theUploadsURLIsSavedBeforeTheFirstByteIsSent() throws {
        let script = DialogueScript<TusDialogue>.created(fields: [("Upload-Expires", "Wed, 25 Jun 2031 16:00:00 GMT")])
        let saved = try script.kept()
        #expect(script.actions.first == .save(saved))
        let patch = try #require(script.request)
        #expect(script.actions == [.save(saved), .send(patch)])
        #expect(patch.method == "PATCH")
        #expect(patch.url == "https://h.test/files/u1")
        #expect(patch.field("Content-Type") == "application/offset+octet-stream")
        #expect(patch.field("Upload-Offset") == "0")
        #expect(patch.field("Tus-Resumable") == "1.0.0")
        #expect(patch.body == .source(0..<100))
        let state = try #require(TusState(saved))
        #expect(state.parts == [TusState.Part(from: 0, to: 100, url: patch.url, expires: 1_940_169_600)])
    }

    @Test func theStateHoldsNoUserinfoAndNoSignature() throws {
        var script = tus(url: "https://user:pw@h.test/files?token=abc")
        script.answer(201, [("Location", "/files/u1")])
        let saved = try script.kept()
        #expect(!saved.contains("pw") && !saved.contains("abc"))
        #expect(script.request?.url == "https://h.test/files/u1")
    }

    @Test func anEmptyFileIsCompleteOnceItIsCreated() throws {
        var script = tus(size: 0)
        #expect(script.request?.field("Upload-Length") == "0")
        script.answer(201, [("Location", "/files/u1"), ("ETag", "\"e\"")])
        #expect(
            script.result == UploadResult(url: "https://h.test/files/u1", status: 201, validator: "\"e\""))
    }

    @Test func anEmptyFileWhoseCreationWasNotAnsweredIsNotCreatedTwice() throws {
        var script = tus(size: 0)
        let before = try #require(script.saved.last, "what is sent may complete the upload: that is kept first")
        script.lose()
        #expect(script.failure?.code == .mayHaveBeenSent)
        #expect(script.failure?.isTransient == false)

        let killed = tus(size: 0, state: before)
        #expect(killed.requests.isEmpty)
        #expect(killed.failure?.code == .mayHaveBeenSent)
        // A user's explicit repetition creates the file again.
        for left in [try script.kept(), try killed.kept()] {
            let again = tus(size: 0, state: left)
            #expect(again.request?.method == "POST")
        }
    }

    @Test func anEmptyFileWhoseCreationNeverLeftIsCreatedAgain() throws {
        var script = tus(size: 0)
        script.lose(.cannotConnect)
        #expect(script.failure?.code == .cannotConnect)
        let again = tus(size: 0, state: try script.kept())
        #expect(again.request?.method == "POST")
    }

    @Test func aCreationThatIsNotAnsweredFailsWithItsErrorAndIsMadeAnew() throws {
        var script = tus()
        script.lose()
        #expect(script.failure?.code == .connectionLost)
        #expect(script.saved.isEmpty)
    }

    @Test(arguments: [500, 502, 503, 504, 429, 408])
    func aCreationThatIsRefusedForNowFailsForNow(_ status: Int) throws {
        var script = tus()
        script.answer(status, [("Retry-After", "7")])
        #expect(script.failure?.isTransient == true)
        #expect(script.failure?.status == status)
        #expect(script.failure?.retryAfter == .seconds(7))
    }

    @Test(arguments: [400, 401, 403, 404, 405, 415, 301])
    func aCreationThatIsRefusedFailsForGood(_ status: Int) throws {
        var script = tus()
        script.answer(status)
        #expect(script.failure?.isTransient == false)
        #expect(script.failure?.status == status)
    }

    @Test func anotherVersionIsNamed() throws {
        var script = tus()
        script.answer(412, [("Tus-Version", "0.2.2,0.2.1")])
        let failure = try #require(script.failure)
        #expect(failure.status == 412)
        #expect(!failure.isTransient)
        #expect(failure.message == "the server does not speak tus 1.0.0; it speaks 0.2.2, 0.2.1")
    }

    @Test func aFileThatIsTooLargeFailsWithTheServersLimit() throws {
        var reported = tus()
        reported.answer(413, [("Tus-Max-Size", "50")])
        let message = "413 Content Too Large: the file has 100 bytes; the server takes at most 50 bytes (Tus-Max-Size)"
        #expect(reported.failure?.message == message)
        #expect(reported.failure?.isTransient == false)

        var asked = tus()
        asked.answer(413)
        #expect(asked.request?.method == "OPTIONS")
        #expect(asked.request?.field("Tus-Resumable") == nil)
        asked.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Max-Size", "50")])
        #expect(asked.failure?.message == message)

        var silent = tus()
        silent.answer(413)
        silent.lose()
        #expect(silent.failure?.status == 413)
    }

    @Test func theServersExtensionsAreAskedOnlyIfNeeded() throws {
        for options in [TusOptions(checksum: .sha1), TusOptions(createsWithBody: true), TusOptions(parallel: 2)] {
            let request = try #require(tus(options).request)
            #expect(request.method == "OPTIONS")
            #expect(request.headers.isEmpty)
        }
        #expect(tus(TusOptions(chunkSize: 10)).request?.method == "POST")
    }

    @Test func aServerOfAnotherVersionOrLowerLimitIsNotTried() throws {
        var old = tus(TusOptions(checksum: .sha1))
        old.answer(204, [("Tus-Version", "0.2.2")])
        #expect(old.failure?.message.contains("0.2.2") == true)

        var small = tus(TusOptions(checksum: .sha1))
        small.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Max-Size", "99")])
        #expect(small.failure?.message.contains("99") == true)

        var exact = tus(TusOptions(checksum: .sha1))
        exact.answer(204, [("Tus-Version", "0.2.2, 1.0.0"), ("Tus-Max-Size", "100")])
        #expect(exact.request?.method == "POST")
    }

    @Test(arguments: [404, 405, 501])
    func withoutListedExtensionsNoneIsUsed(_ status: Int) throws {
        var script = tus(TusOptions(checksum: .sha1, createsWithBody: true, parallel: 4, minimumPartSize: 1))
        script.answer(status)
        #expect(script.requests.count == 1)
        let request = try #require(script.request)
        #expect(request.method == "POST")
        #expect(request.body == .none)
        #expect(request.field("Upload-Concat") == nil)
        script.answer(201, [("Location", "/files/u1")])
        #expect(script.request?.field("Upload-Checksum") == nil)
    }

    @Test func aBusyServerIsATransientFailure() throws {
        var script = tus(TusOptions(checksum: .sha1))
        script.answer(503)
        #expect(script.failure?.isTransient == true)
    }

    @Test func defaultsAreAsDocumented() {
        let options = TusOptions()
        #expect(options.chunkSize == nil)
        #expect(options.metadata.isEmpty)
        #expect(options.checksum == nil)
        #expect(!options.createsWithBody)
        #expect(options.parallel == 1)
        #expect(options.minimumPartSize == 8 << 20)
    }
}

@Suite struct TusCreationWithUploadTests {
    private func offered(_ options: TusOptions = TusOptions(createsWithBody: true)) -> DialogueScript<TusDialogue> {
        var script = tus(options)
        script.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation,creation-with-upload")])
        return script
    }

    @Test func theCreationCarriesTheFirstChunk() throws {
        var script = offered(TusOptions(chunkSize: 40, createsWithBody: true))
        let request = try #require(script.request)
        #expect(request.method == "POST")
        #expect(request.body == .source(0..<40))
        #expect(request.field("Content-Type") == "application/offset+octet-stream")
        #expect(script.saved.isEmpty, "a part alone cannot complete the upload")
        script.answer(201, [("Location", "/files/u1"), ("Upload-Offset", "30")])
        #expect(script.confirmed == 30)
        #expect(script.request?.body == .source(30..<70))
    }

    @Test func theCreationMayCarryTheWholeFile() throws {
        var script = offered()
        script.answer(201, [("Location", "/files/u1"), ("Upload-Offset", "100")])
        #expect(script.confirmed == 100)
        #expect(script.result?.url == "https://h.test/files/u1")
    }

    @Test(arguments: [nil, "x", "-1", "101"])
    func anOffsetMissingFromTheCreationIsAskedFor(_ offset: String?) throws {
        var script = offered()
        script.answer(201, [("Location", "/files/u1")] + (offset.map { [("Upload-Offset", $0)] } ?? []))
        #expect(script.request?.method == "HEAD")
        script.answer(200, [("Upload-Offset", "0")])
        #expect(script.request?.method == "PATCH")
    }

    @Test func aWholeFileWhoseCreationWasNotAnsweredIsNotSentTwice() throws {
        var script = offered()
        #expect(script.saved.count == 1)
        script.lose(sent: 100)
        #expect(script.failure?.code == .mayHaveBeenSent)

        var cut = offered()
        cut.lose(sent: 99)
        #expect(cut.failure?.code == .connectionLost, "nothing can be complete of which a byte is missing")
        #expect(tus(state: cut.saved.last).request?.method == "POST")

        var gateway = offered()
        gateway.answer(504)
        #expect(gateway.failure?.code == .mayHaveBeenSent)
        var refused = offered()
        refused.answer(500)
        #expect(refused.failure?.status == 500)
    }

    @Test func withoutTheExtensionTheCreationIsEmpty() throws {
        var script = tus(TusOptions(createsWithBody: true))
        script.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation")])
        #expect(script.request?.body == UploadRequest.Body.none)
    }
}
