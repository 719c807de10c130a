import Testing
import TransferCore
import TransferUpload

@Suite struct UploadRequestTests {
    @Test func theBodysLengthCountsWhatStandsAroundTheSource() {
        let body = UploadRequest.Body.source(10..<30, prefix: [1, 2, 3], suffix: [4])
        #expect(body.length == 24)
        #expect(UploadRequest.Body.bytes([1, 2]).length == 2)
        #expect(UploadRequest.Body.none.length == 0)
    }

    // MARK: The owner's fields

    @Test(arguments: [
        "If-None-Match", "if-match", "If-Unmodified-Since", "Content-Encoding", "content-md5", "Content-Disposition",
        "Last-Modified", "Repr-Digest",
    ])
    func contentFieldsAreSentWithTheCreatingRequest(name: String) {
        #expect(OwnersFields.all.admits(name))
        #expect(!OwnersFields.apartFromContent.admits(name))
    }

    @Test(arguments: ["Authorization", "X-Team", "Cookie", "User-Agent", "If", "Prefer"])
    func otherFieldsAreSentWithEveryUnsignedRequest(name: String) {
        #expect(OwnersFields.all.admits(name))
        #expect(OwnersFields.apartFromContent.admits(name))
        #expect(!OwnersFields.none.admits(name))
    }

    private let source = UploadSource(name: "a.bin", size: 100)
    private let url = "http://server.test/in/a.bin"

    private func requests(_ actions: [UploadAction]) -> [UploadRequest] {
        actions.compactMap { if case .send(let request) = $0 { request } else { nil } }
    }

    /// Returns the owner's fields of a dialogue's requests, by method.
    private func fields(_ dialogue: some UploadDialogue) -> [String: OwnersFields] {
        var dialogue = dialogue
        return Dictionary(requests(dialogue.begin(now: 0)).map { ($0.method, $0.ownersFields) }) { first, _ in first }
    }

    @Test func questionsHaveNoConditions() {
        let confirming = ConfirmingPut(url: url, source: source, state: ConfirmingPut.state(began: 0))
        #expect(confirming.map { fields($0) } == ["HEAD": .apartFromContent])
    }

    @Test func creationsHaveAllFields() {
        let options = ResumableOptions(url: url)
        #expect(fields(ResumableDialogue(source: source, options: options)) == ["PUT": .all])
        #expect(fields(FolderMakingPut(url: url, source: source)) == ["PUT": .all])
        #expect(fields(FormUpload(url: url, method: "POST", source: source)) == ["POST": .all])
        #expect(fields(TusDialogue(url: url, source: source, state: nil)) == ["POST": .all])
    }

    @Test func continuationsHaveNoFieldsOfTheWholeFile() {
        var script = ResumableScript.resumed(at: 40)
        #expect(script.request?.ownersFields == .apartFromContent)
        script.lose(sent: 0)
        #expect(ResumableScript(state: script.state).request?.ownersFields == .apartFromContent)
    }
}
