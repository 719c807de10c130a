import Testing
import TransferCore

@testable import TransferUpload

/// The meaning of an answer about a finished upload, without a server.
@Suite struct VerifyingDialogueTests {
    static let ours = "2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3"
    static let theirs = "19581e27de7ced00ff1ce50b2047e7a567c76b1cbaebabe5ef03f7c3017bb5b7"
    static let url = "http://h.example/x"

    struct Finished: UploadDialogue {
        var result: UploadResult
        mutating func begin(now: Int64) -> [UploadAction] { [.confirmed(3), .finish(result)] }
        mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] { [] }
        mutating func abandon(now: Int64) -> [UploadAction] { [] }
    }

    func dialogue(
        _ result: UploadResult = UploadResult(url: url, status: 201), state: UploadState? = nil, digest: String? = ours
    ) -> VerifyingDialogue {
        VerifyingDialogue(
            Finished(result: result),
            source: UploadSource(name: "x", size: 3, digest: digest.flatMap { Checksum(.sha256, hex: $0) }),
            state: state
        ) { VerifyingDialogue.Place(url: $0.url) }
    }

    func answer(_ status: Int, _ fields: [HeaderField] = [], digest: String? = nil) -> UploadEvent {
        var answer = UploadAnswer(
            request: 1, head: ResponseHead(status: status, fields: fields), url: Self.url)
        answer.digest = digest.flatMap { Checksum(.sha256, hex: $0) }
        return .answered(answer)
    }

    func repr(_ hex: String) -> [HeaderField] {
        let text = Checksum(.sha256, hex: hex)?.base64 ?? ""
        return [HeaderField("Repr-Digest", "sha-512=:AAAA:, sha-256=:\(text):")]
    }

    func request(_ actions: [UploadAction]) -> UploadRequest? {
        for case .send(let request) in actions { return request }
        return nil
    }

    func failure(_ actions: [UploadAction]) -> TransferError? {
        for case .fail(let error) in actions { return error }
        return nil
    }

    func isFinished(_ actions: [UploadAction]) -> Bool {
        actions.contains { if case .finish = $0 { true } else { false } }
    }

    @Test func asksByHeadForTheDigestAndFinishesWithTheRightOne() throws {
        var dialogue = dialogue()
        let first = dialogue.begin(now: 0)
        let head = try #require(request(first))
        #expect(head.method == "HEAD" && head.headers.value("Want-Repr-Digest") == "sha-256=10")
        // The state of the upload is saved before any question is sent.
        guard case .confirmed = first[0], case .save = first[1], case .send = first[2] else {
            Issue.record("\(first)")
            return
        }
        let end = dialogue.handle(answer(200, repr(Self.ours)), now: 0)
        #expect(isFinished(end))
    }

    @Test func anotherDigestFailsAndTheUploadIsAbandoned() {
        var dialogue = dialogue()
        _ = dialogue.begin(now: 0)
        let end = dialogue.handle(answer(200, repr(Self.theirs)), now: 0)
        #expect(failure(end)?.code == .checksumMismatch && failure(end)?.isTransient == false)
        #expect(failure(end)?.message.hasSuffix("a retry sends it again") == true)
        guard case .restart = end[0] else {
            Issue.record("\(end)")
            return
        }
    }

    @Test(arguments: [200, 404, 405, 501])
    func withoutADigestTheWholeIsFetchedAndHashed(_ status: Int) throws {
        for (digest, code) in [(Self.ours, nil), (Self.theirs, TransferError.Code.checksumMismatch)] {
            var dialogue = dialogue()
            _ = dialogue.begin(now: 0)
            let get = try #require(request(dialogue.handle(answer(status), now: 0)))
            #expect(get.method == "GET" && get.digests == .sha256)
            let end = dialogue.handle(answer(200, digest: digest), now: 0)
            #expect(failure(end)?.code == code && isFinished(end) == (code == nil))
        }
    }

    @Test func withoutAnyDigestItFailsAndSaysWhy() throws {
        for last in [answer(404), answer(200, [HeaderField("Content-Encoding", "gzip")], digest: Self.ours)] {
            var dialogue = dialogue()
            _ = dialogue.begin(now: 0)
            _ = dialogue.handle(answer(200), now: 0)
            let end = dialogue.handle(last, now: 0)
            #expect(failure(end)?.code == .digestUnknown && failure(end)?.message.contains("is not known") == true)
            #expect(failure(end)?.message.contains("leave out its checksum") == true)
            #expect(!end.contains { if case .restart = $0 { true } else { false } })
        }
        var nowhere = VerifyingDialogue(
            Finished(result: UploadResult(url: "", status: 201)), source: UploadSource(name: "x", size: 3), state: nil
        ) { _ in VerifyingDialogue.Place(url: nil) }
        _ = nowhere.begin(now: 0)
        let end = nowhere.handle(.digested(id: 1, try .sha256(Self.ours)), now: 0)
        #expect(failure(end)?.code == .digestUnknown)
    }

    @Test func aServerThatIsBusyIsAskedAgainByAnotherAttemptAndNothingIsSentTwice() throws {
        var first = dialogue()
        let actions = first.begin(now: 0)
        var state: UploadState?
        for case .save(let text) in actions { state = text }
        #expect(failure(first.handle(answer(503), now: 0))?.isTransient == true)
        var second = dialogue(UploadResult(url: "http://h.example/never", status: 0), state: state)
        let head = try #require(request(second.begin(now: 0)))
        #expect(head.method == "HEAD" && head.url == Self.url)
    }

    @Test func aDigestFromTheServerIsComparedWithoutAQuestion() {
        var right = dialogue(UploadResult(url: Self.url, status: 200, digest: Checksum(.sha256, hex: Self.ours)))
        #expect(isFinished(right.begin(now: 0)))
        var wrong = dialogue(UploadResult(url: Self.url, status: 200, digest: Checksum(.sha256, hex: Self.theirs)))
        #expect(failure(wrong.begin(now: 0))?.code == .checksumMismatch)
    }

    @Test func anMD5ETagIsComparedAndAnyOtherETagProvesNothing() throws {
        let tag = "\"900150983cd24fb0d6963f7d28e17f72\""
        let md5 = try #require(Checksum(.md5, hex: "900150983cd24fb0d6963f7d28e17f72"))
        var dialogue = dialogue(UploadResult(url: Self.url, status: 200, validator: tag))
        #expect(dialogue.begin(now: 0).contains { if case .digest(_, .md5, 0..<3) = $0 { true } else { false } })
        #expect(isFinished(dialogue.handle(.digested(id: 1, md5), now: 0)))

        var other = self.dialogue(UploadResult(url: Self.url, status: 200, validator: tag))
        _ = other.begin(now: 0)
        let different = try #require(Checksum(.md5, hex: String(repeating: "0", count: 32)))
        #expect(request(other.handle(.digested(id: 1, different), now: 0))?.method == "HEAD")
    }

    @Test(arguments: [
        ("sha-256=:\(Checksum(.sha256, hex: ours)?.base64 ?? ""):;x=1", true), ("sha-256=abc", false), ("", false),
        ("sha-256=:AAAA:", false), ("unixsum=:AAAA:", false),
        ("sha-256=:\(Checksum(.sha256, hex: ours)?.base64 ?? "")", false),
    ])
    func readsReprDigest(_ field: String, _ isOne: Bool) {
        let head = ResponseHead(status: 200, fields: [HeaderField("Repr-Digest", field)])
        #expect((VerifyingDialogue.reprDigest(head)?.hex == Self.ours) == isOne)
        #expect((VerifyingDialogue.reprDigest(head) == nil) == !isOne)
    }
}
