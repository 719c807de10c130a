import Testing
import TransferCore

@testable import TransferUpload

/// The rule of all protocols for the answer to a question about the stored bytes. Each row has protocol, answer and
/// state → next step.
@Suite struct ReportedOffsetTests {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case s3, tus, resumable, files
        var testDescription: String { rawValue }
    }

    /// The state that an earlier attempt left.
    enum Held: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// Half of the file may be on the server.
        case some
        /// The whole file was sent, and the last answer never came.
        case perhapsAll
        var testDescription: String { rawValue }
    }

    /// The next step.
    enum Next: Equatable, Sendable {
        case goesOn
        /// The upload restarts, while the former upload is still recorded.
        case beginsAnew
        /// The dialogue first asks, or tries, whether the whole file has arrived.
        case looksForTheWhole
        case asksAgainLater
        case endsForGood
    }

    @Test(
        arguments: [
            (200, 40, .known(40)), (204, 0, .known(0)), (200, nil, .refused), (404, nil, .gone), (410, nil, .gone),
            (400, nil, .refused), (401, nil, .refused), (403, nil, .refused), (405, nil, .refused),
            (501, nil, .refused),
            (302, nil, .refused), (403, 40, .refused), (429, nil, .unknown), (500, nil, .unknown), (503, nil, .unknown),
        ] as [(Int, Int64?, ReportedOffset)])
    func anAnswerHasOneOfFourMeanings(_ status: Int, _ offset: Int64?, _ reported: ReportedOffset) {
        let isPassing = StatusRule.error(ResponseHead(status: status, fields: []), now: 0).isTransient
        #expect(ReportedOffset(status: status, offset: offset, isPassing: isPassing) == reported)
    }

    @Test(arguments: Kind.allCases, Held.allCases)
    func theNextStepIsTheSameInEveryProtocol(_ kind: Kind, _ held: Held) throws {
        // No separate question is needed if the same question gives the answer.
        let whole: Next =
            held == .some
            ? .beginsAnew : kind == .tus ? .endsForGood : kind == .resumable ? .beginsAnew : .looksForTheWhole
        #expect(try next(kind, held, 200, tells: true) == .goesOn)
        for status in [404, 410] { #expect(try next(kind, held, status) == whole, "\(status)") }
        for status in [400, 401, 403, 405, 501, 200] { #expect(try next(kind, held, status) == whole, "\(status)") }
        for status in [429, 500, 502, 503, 504] {
            #expect(try next(kind, held, status) == .asksAgainLater, "\(status)")
        }
    }

    // MARK: The four

    private static let source = UploadSource(name: "f", size: 200)

    /// - Returns: The state that an earlier attempt saved.
    private func saved(_ kind: Kind, _ held: Held) throws -> UploadState {
        switch (kind, held) {
        case (.s3, .some): return S3Script.state(200)
        case (.s3, .perhapsAll): return S3Script.state(200, S3State.Completion(etag: "e-2", checksum: nil))
        case (.tus, _):
            var script = tus(size: 200)
            script.answer(201, [("Location", "/files/u1")])
            let made = try script.kept()
            // A process that died may have sent the whole file.
            if held == .perhapsAll { return made }
            script.lose(sent: 40)
            return script.saved.last ?? made
        case (.resumable, _): return ResumableScript.saved(length: 200, isEnding: held == .perhapsAll)
        case (.files, .some):
            var script = DialogueScript(dialogue(.files, nil))
            script.lose(sent: 40)
            return try script.kept()
        case (.files, .perhapsAll):
            var script = DialogueScript(dialogue(.files, nil))
            script.answer(201)
            script.answer(200, [("Content-Length", "200"), ("ETag", "\"e\"")])
            return try script.kept()
        }
    }

    private func dialogue(_ kind: Kind, _ state: UploadState?) -> AnyDialogue {
        switch kind {
        case .s3:
            // The location is well-formed.
            guard let location = try? S3Location("s3://b/k", endpoint: "https://s3.example") else {
                return AnyDialogue(FormUpload(url: "", source: Self.source))
            }
            return AnyDialogue(
                S3Dialogue(
                    location: location, credentials: S3Credentials(accessKey: "A", secret: "S"), source: Self.source,
                    options: S3Options(
                        threshold: 100, partSize: 100, minimumPartSize: 1, parallel: 1, integrity: .none),
                    state: state))
        case .tus:
            return AnyDialogue(TusDialogue(url: "https://h.test/files", source: Self.source, state: state))
        case .resumable:
            return AnyDialogue(
                ResumableDialogue(
                    source: Self.source, options: ResumableOptions(url: ResumableScript.target), state: state))
        case .files:
            return AnyDialogue(FileServerUpload(url: "ftp://h/in/f", source: Self.source, state: state, mark: "m"))
        }
    }

    private func next(_ kind: Kind, _ held: Held, _ status: Int, tells: Bool = false) throws -> Next {
        let state = try saved(kind, held)
        var script = DialogueScript(dialogue(kind, state))
        let question = try #require(script.request)
        #expect(question.method == (kind == .s3 ? "GET" : "HEAD"))
        let page =
            "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>\"e\"</ETag><Size>100</Size></Part></ListPartsResult>"
        script.answer(
            status,
            tells
                ? [
                    ("Upload-Offset", "100"), ("Upload-Complete", "?0"), ("Upload-Draft-Interop-Version", "8"),
                    ("Content-Length", "100"),
                ] : [], body: tells ? page : "")
        if let failure = script.failure {
            #expect(script.saved.isEmpty || failure.code == .mayHaveBeenSent, "what is held stays")
            return failure.isTransient ? .asksAgainLater : .endsForGood
        }
        let request = try #require(script.request)
        if script.restart == nil {
            if tells { return request.body.length > 0 && request.body.length < 200 ? .goesOn : .endsForGood }
            return ["HEAD", "MOVE"].contains(request.method) ? .looksForTheWhole : .endsForGood
        }
        // The former upload stays recorded until the next one is: a state saved meanwhile names it, or no state is
        // saved.
        let isGone = status == 404 || status == 410
        let name =
            ["s3": "u%2F1", "tus": "/files/u1", "resumable": "uploads/u1", "files": ".f.m.part"][kind.rawValue] ?? ""
        for text in script.saved { #expect(isGone || text.contains(name), "\(text)") }
        return .beginsAnew
    }
}

/// One of several dialogues.
struct AnyDialogue: UploadDialogue {
    private var dialogue: any UploadDialogue

    init(_ dialogue: any UploadDialogue) { self.dialogue = dialogue }

    mutating func begin(now: Int64) -> [UploadAction] { dialogue.begin(now: now) }
    mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] { dialogue.handle(event, now: now) }
    mutating func abandon(now: Int64) -> [UploadAction] { dialogue.abandon(now: now) }
}
