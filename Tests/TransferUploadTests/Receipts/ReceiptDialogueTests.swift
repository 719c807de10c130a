import Testing
import TransferCore

@testable import TransferUpload

/// The requests after an answer that is no receipt yet.
@Suite struct ReceiptDialogueTests {
    private static let url = "http://h/in/f"
    /// 15 Jan 2027, 08:00:00 UTC, the time of the scripts.
    private static let now: Int64 = 1_800_000_000
    private static let date = "Fri, 15 Jan 2027 08:00:00 GMT"
    private let own: Checksum

    init() throws {
        own = try #require(Checksum(.sha256, bytes: Array(repeating: 1, count: 32)))
    }

    private func dialogue(
        _ method: String = "PUT", size: Int64 = 10, success: Set<Int>? = nil, state: UploadState? = nil
    ) -> DialogueScript<ReceiptDialogue> {
        let source = UploadSource(name: "f", size: size)
        let rule = ReceiptRule(method: method, success: success)
        let plain: any UploadDialogue =
            method == "PUT"
            ? PlainPut(url: Self.url, method: "PUT", source: source)
            : FormUpload(url: Self.url, method: method, source: source, fields: [], fileField: "file", boundary: "B")
        return DialogueScript(ReceiptDialogue(plain, rule: rule, url: Self.url, source: source, state: state))
    }

    private func there(_ length: Int64 = 10, modified: String? = date) -> [(String, String)] {
        [("Content-Length", String(length)), ("Date", Self.date)] + (modified.map { [("Last-Modified", $0)] } ?? [])
    }

    @Test func aSuccessIsAReceipt() {
        for status in [200, 201, 204] {
            var put = dialogue()
            #expect(put.request?.method == "PUT")
            put.answer(status)
            #expect(put.result?.status == status)
        }
    }

    @Test(arguments: ["PUT", "POST"]) func aRedirectIsNoReceipt(_ method: String) {
        for status in [301, 302, 303] {
            var script = dialogue(method)
            script.answer(status, [("Location", "/page")])
            #expect(script.failure != nil && script.result == nil && script.requests.isEmpty, "\(status)")
        }
    }

    // MARK: 202

    @Test func anAcceptedFileIsDoneOnceTheServerShowsIt() throws {
        var put = dialogue()
        put.answer(202)
        #expect(put.result == nil && put.request?.method == "HEAD" && put.request?.url == Self.url)
        // A process that starts after a kill asks again.
        let state = try put.kept()
        #expect(ReceiptDialogue.isState(state))
        put.answer(200, there())
        #expect(put.request?.method == "GET")
        try readBack(&put)
        #expect(put.result?.status == 202 && put.result?.digest == own)
    }

    /// Reads the file back with the right bytes.
    private func readBack(_ script: inout DialogueScript<ReceiptDialogue>) throws {
        var answer = UploadAnswer(
            request: try #require(script.request).id, head: ResponseHead(status: 200, fields: []), url: Self.url)
        answer.digest = own
        script.hear(script.dialogue.handle(.answered(answer), now: Self.now))
        script.digest(1, own)
    }

    @Test(arguments: [404, 410, 200]) func aFileThatIsNotThereYetIsAskedForAgain(_ status: Int) throws {
        var put = dialogue()
        put.answer(202)
        var asked = 0
        while ReceiptDialogue.isState(try put.kept()) {
            put.answer(status, status == 200 ? there(9) : [])
            #expect(put.failure?.code == .unconfirmed && put.failure?.isTransient == true)
            asked += 1
            let state = try put.kept()
            guard ReceiptDialogue.isState(state) else { break }
            put = dialogue(state: state)
            #expect(put.request?.method == "HEAD")
        }
        // The file is then sent once more.
        let last = try put.kept()
        #expect(asked == ReceiptDialogue.questions && ConfirmingPut.isState(last))
    }

    /// The answers to HEAD and GET of a file that cannot be read back, and whether they prove its arrival.
    @Test(
        arguments: [
            (there: 10, modified: date, get: 404, isShown: true),
            (there: 10, modified: nil, get: 404, isShown: false),
            (there: 10, modified: "Fri, 15 Jan 2027 07:59:00 GMT", get: 0, isShown: false),
            (there: 9, modified: date, get: 0, isShown: false),
        ] as [(there: Int64, modified: String?, get: Int, isShown: Bool)])
    func anUnreadableFileIsJudgedByItsTime(
        _ length: Int64, _ modified: String?, _ get: Int, _ isShown: Bool
    ) throws {
        var put = dialogue(state: "accepted:\(Self.now):1")
        put.answer(200, there(length, modified: modified))
        if get > 0 { put.answer(get) }
        #expect((put.result != nil) == isShown)
        let large = RemoteCopy.comparedAtMost + 1
        guard length == 10 else { return }
        var other = dialogue(size: large, state: "accepted:\(Self.now):1")
        other.answer(200, there(large, modified: modified))
        #expect((other.result != nil) == isShown)
    }

    @Test func aServerThatDoesNotAnswerHEADIsAskedByGET() throws {
        var put = dialogue(state: "accepted:\(Self.now):1")
        put.answer(405)
        #expect(put.request?.method == "GET")
        try readBack(&put)
        #expect(put.result?.digest == own)
    }

    @Test(arguments: [401, 403, 400]) func aFileThatCannotBeAskedForEndsTheJob(_ status: Int) {
        var put = dialogue(state: "accepted:\(Self.now):1")
        put.answer(status)
        #expect(put.failure?.code == .unconfirmed && put.failure?.isTransient == false)
        #expect(put.failure?.message.contains("\"success\": [202]") == true)
    }

    @Test func anotherQuestionMayBeAnsweredLater() {
        var put = dialogue(state: "accepted:\(Self.now):1")
        put.answer(503)
        #expect(put.failure?.isTransient == true && put.failure?.status == 503)
        put = dialogue(state: "accepted:\(Self.now):1")
        put.lose()
        #expect(put.failure?.isTransient == true)
    }

    @Test func aPostIsAskedForAtTheURLOfItsAnswer() throws {
        var post = dialogue("POST")
        post.answer(202, [("Location", "/files/7")])
        #expect(post.request?.method == "HEAD" && post.request?.url == "http://h/files/7" && post.saved.isEmpty)
        post.answer(404)
        // The server may have accepted the POST, so it is not repeated.
        #expect(post.failure?.code == .mayHaveBeenSent && post.failure?.isTransient == false)
        var silent = dialogue("POST")
        silent.answer(202)
        #expect(silent.failure?.code == .mayHaveBeenSent && silent.requests.isEmpty)
    }

    @Test func theOwnerMayAcceptTheStatusAsAReceipt() {
        var post = dialogue("POST", success: [202])
        post.answer(202)
        #expect(post.result?.status == 202)
    }

    // MARK: Successes that say nothing about the file

    private static let page = [("Content-Type", "text/html")]
    private static let portal = "<html><title>Welcome to the hotel</title>"

    @Test(arguments: [200, 203, 206, 207]) func aDoubtfulSuccessCountsOnceTheServerShowsTheFile(_ status: Int) throws {
        var put = dialogue()
        put.answer(status, Self.page, body: Self.portal)
        #expect(put.result == nil && put.request?.method == "HEAD" && put.request?.url == Self.url)
        // A process that starts after a kill asks before it sends the file again.
        #expect(ConfirmingPut.isState(try put.kept()))
        put.answer(200, there())
        #expect(put.request?.method == "GET")
        try readBack(&put)
        #expect(put.result?.status == status && put.result?.digest == own)
    }

    /// A captive portal answers the question by its page, too.
    @Test(arguments: [200, 203, 206, 207]) func aDoubtfulSuccessWithoutAProofStopsTheJob(_ status: Int) {
        for answer in [200, 403, 405] {
            var put = dialogue()
            put.answer(status, Self.page, body: Self.portal)
            put.answer(answer, Self.page + [("Content-Length", "2000")])
            #expect(put.failure?.code == .unconfirmed && put.failure?.isTransient == false, "\(answer)")
            #expect(put.failure?.message.contains("may have arrived") == true, "\(answer)")
            #expect(put.failure?.message.contains("\"success\": [\(status)]") == true, "\(answer)")
        }
    }

    @Test func aFileThatIsNotThereAfterADoubtfulSuccessIsSentAgain() throws {
        for (status, isLost) in [(404, false), (503, false), (0, true)] {
            var put = dialogue()
            put.answer(207)
            if isLost { put.lose() } else { put.answer(status) }
            #expect(put.failure?.isTransient == true, "\(status)")
            #expect(ConfirmingPut.isState(try put.kept()), "\(status)")
        }
    }

    @Test func aPostWithADoubtfulSuccessIsNotRepeated() {
        var post = dialogue("POST")
        post.answer(206)
        #expect(post.requests.isEmpty && post.failure?.code == .mayHaveBeenSent && post.failure?.isTransient == false)
        #expect(post.failure?.message.contains("may have arrived") == true)
    }

    /// The answer to the upload was lost, and the job takes only a 201 for a receipt.
    @Test func aFileThatAQuestionFindsNeedsNoStatusOfTheJobs() throws {
        let source = UploadSource(name: "f", size: 10)
        let asking = try #require(
            ConfirmingPut(url: Self.url, source: source, state: ConfirmingPut.state(began: Self.now)))
        var put = DialogueScript(
            ReceiptDialogue(
                asking, rule: ReceiptRule(method: "PUT", success: [201]), url: Self.url, source: source))
        put.answer(200, there())
        try readBack(&put)
        #expect(put.result?.digest == own && put.result?.isFound == true)
    }

    // MARK: Redirects that are named

    @Test func theTargetOfARedirectIsFetched() {
        var post = dialogue("POST", success: [201, 303])
        post.answer(303, [("Location", "/done")])
        #expect(post.request?.method == "GET" && post.request?.url == "http://h/done" && post.result == nil)
        post.answer(302, [("Location", "/done/")])
        #expect(post.request?.url == "http://h/done/")
        post.answer(200)
        #expect(post.result?.status == 303)
    }

    @Test func anUnavailablePageDoesNotRevokeTheReceipt() {
        var post = dialogue("POST", success: [303])
        post.answer(303, [("Location", "/done")])
        post.lose()
        #expect(post.result?.status == 303)
    }

    @Test func endlessRedirectsEnd() {
        var post = dialogue("POST", success: [303])
        post.answer(303, [("Location", "/done")])
        var looks = 0
        while post.result == nil, post.failure == nil, looks < 20 {
            post.answer(302, [("Location", "/done")])
            looks += 1
        }
        #expect(post.result != nil && looks < 10)
    }

    @Test func aLoginPageIsNoReceipt() {
        var post = dialogue("POST", success: [303])
        post.answer(303, [("Location", "/done")])
        post.answer(302, [("Location", "/login?next=/done")])
        #expect(post.failure?.isTransient == false && post.result == nil)
    }
}
