import Testing
import TransferCore

@testable import TransferUpload

/// Hostile servers: for any answers an attempt ends soon. The next attempt has its delay, and the limit of attempts
/// holds.
@Suite struct DetoursTests {
    typealias Kind = ReportedOffsetTests.Kind

    private static let size: Int64 = 4000
    private static let source = UploadSource(name: "f", size: size)
    /// Without detours, an upload of four parts takes seven requests.
    private static let mostRequests = 80
    /// The whole file is sent, each of its parts may be sent again, and the upload may restart.
    private static let mostBytes = size * 24

    @Test func detoursAreCountedAndNeverGivenBack() {
        var detours = Detours(most: 2)
        #expect([detours.take(), detours.take(), detours.take(), detours.take()] == [true, true, false, false])
    }

    @Test(
        arguments: [
            (0, 100, true), (1, 100, true), (12, 100, true), (13, 100, false), (100, 100, false), (1, 1, false),
            (1 << 20, 1 << 40, false), ((1 << 20) - 1, 1 << 40, true),
        ] as [(Int64, Int64, Bool)])
    func falseProgressIsDistinguishedFromProgress(_ progress: Int64, _ sent: Int64, _ isSmall: Bool) {
        #expect(Detours.isSmall(progress, of: sent) == isSmall)
    }

    @Test(arguments: Kind.allCases) func everyAttemptEndsForAnyAnswers(_ kind: Kind) throws {
        for seed in UInt64(0)..<3000 {
            var random = S3Random(seed: seed)
            // Each server favours one to four answers, and gives another answer now and then.
            let palette = Self.palette(kind)
            let count = Int.random(in: 1...4, using: &random)
            let favourites = (0..<count).compactMap { _ in palette.randomElement(using: &random) }
            var state: UploadState?
            for attempt in 1...3 {
                let run = Self.attempt(kind, &state) { _ in
                    Int.random(in: 0..<8, using: &random) == 0
                        ? palette.randomElement(using: &random) : favourites.randomElement(using: &random)
                }
                #expect(run.ends, "\(kind), seed \(seed), attempt \(attempt): \(run.log.suffix(12))")
                #expect(run.requests <= Self.mostRequests, "\(kind), seed \(seed): \(run.log)")
                #expect(run.bytes <= Self.mostBytes, "\(kind), seed \(seed): \(run.bytes) bytes, \(run.log)")
            }
        }
    }

    /// Each server gives one answer forever, and the answers that lead back to the same request.
    @Test(
        arguments: [
            (Kind.tus, Answer(204, .plusOne)), (.tus, Answer(409)), (.tus, Answer(460)), (.tus, Answer(404)),
            (.resumable, Answer(204, .plusOne)), (.resumable, Answer(409, .plusOne)), (.resumable, Answer(413)),
            (.files, Answer(409, .plusOne)), (.files, Answer(404)), (.files, Answer(403)),
            (.s3, Answer(404, .none, S3Samples.error("NoSuchUpload"))),
            (.s3, Answer(400, .none, S3Samples.error("BadDigest"))),
            (.s3, Answer(400, .none, S3Samples.error("InvalidPart"))), (.s3, Answer(500)),
        ] as [(Kind, Answer)])
    func aServerWithOneConstantAnswerIsGivenUp(_ kind: Kind, _ answer: Answer) throws {
        var state: UploadState?
        for _ in 1...3 {
            let run = Self.attempt(kind, &state) { request in
                // Parts and rests get the hostile answer. The requests that lead to them succeed.
                ["PATCH", "HEAD"].contains(request.method) || request.url.contains("partNumber")
                    || request.url.hasSuffix("uploadId=u") ? answer : Self.kind(kind, request)
            }
            #expect(run.ends && run.requests <= Self.mostRequests, "\(run.log)")
            #expect(run.bytes <= Self.mostBytes, "\(run.bytes): \(run.log)")
        }
    }

    // MARK: Servers

    struct Answer: Sendable, CustomTestStringConvertible {
        enum Offset: Sendable { case none, same, plusOne, end, zero, beyond }

        var status: Int
        var offset: Offset
        var body: String
        var complete: String?

        init(_ status: Int, _ offset: Offset = .none, _ body: String = "", complete: String? = nil) {
            (self.status, self.offset, self.body, self.complete) = (status, offset, body, complete)
        }

        var testDescription: String { "\(status) \(offset) \(body.prefix(60))" }

        func fields(_ request: UploadRequest, _ number: Int) -> [(String, String)] {
            var fields = [("Location", "/files/u\(number)"), ("ETag", "\"e\(number)\"")]
            fields.append(("Upload-Draft-Interop-Version", "8"))
            if let complete { fields.append(("Upload-Complete", complete)) }
            let start = request.headers.value("Upload-Offset").flatMap { Int64($0) } ?? 0
            let reported: Int64? =
                switch offset {
                case .none: nil
                case .same: start
                case .plusOne: start + 1
                case .end: start + request.body.length
                case .zero: 0
                case .beyond: DetoursTests.size + 1
                }
            if let reported {
                fields.append(("Upload-Offset", "\(reported)"))
                if request.method == "HEAD" { fields.append(("Content-Length", "\(reported)")) }
            }
            return fields
        }
    }

    private static func palette(_ kind: Kind) -> [Answer] {
        switch kind {
        case .s3:
            return [200, 201, 204, 403, 404, 500, 503].map { Answer($0) }
                + ["NoSuchUpload", "InvalidPart", "BadDigest", "SlowDown", "InternalError"].flatMap { code in
                    [200, 400, 404].map { Answer($0, .none, S3Samples.error(code)) }
                }
                + [
                    Answer(400, .none, S3Samples.error("AuthorizationHeaderMalformed", region: "eu-x")),
                    Answer(200, .none, S3Samples.created("u")), Answer(200, .none, S3Samples.list([])),
                    Answer(200, .none, S3Samples.uploads([S3Samples.upload("k", "u", 1_700_000_000)])),
                    Answer(200, .none, S3Samples.list([(1, 1000)])), Answer(200, .none, S3Samples.list([], next: 1)),
                    Answer(200, .none, S3Samples.list([(1, 1000), (2, 1000), (3, 1000), (4, 1000)])),
                ]
        case .tus, .resumable, .files:
            return [200, 201, 204, 301, 400, 403, 404, 409, 410, 412, 413, 423, 460, 500, 501].flatMap { status in
                [Answer.Offset.none, .same, .plusOne, .end, .zero, .beyond].flatMap { offset in
                    (kind == .resumable ? [nil, "?0", "?1"] : [nil]).map { Answer(status, offset, complete: $0) }
                }
            }
        }
    }

    /// Returns an answer that lets the upload continue.
    private static func kind(_ kind: Kind, _ request: UploadRequest) -> Answer {
        switch kind {
        case .s3:
            if request.url.hasSuffix("uploads=") { return Answer(200, .none, S3Samples.created("u")) }
            return Answer(200, .none, S3Samples.list([]))
        case .tus: return Answer(201)
        case .resumable: return Answer(201, .none, complete: "?0")
        case .files: return Answer(201)
        }
    }

    // MARK: An attempt

    private struct Run {
        var requests = 0
        var bytes: Int64 = 0
        var ends = false
        var log: [String] = []
    }

    private static func attempt(
        _ kind: Kind, _ state: inout UploadState?, answer: (UploadRequest) -> Answer?
    ) -> Run {
        guard var dialogue = dialogue(kind, state) else { return Run() }
        var run = Run()
        var open: [UploadRequest] = []
        var actions = dialogue.begin(now: 1_700_000_000)
        while run.requests <= mostRequests {
            while !actions.isEmpty {
                switch actions.removeFirst() {
                case .send(let request): open.append(request)
                case .save(let text): state = text
                case .forget: state = nil
                case .stop(let id): open.removeAll { $0.id == id }
                case .finish, .fail:
                    run.ends = true
                    return run
                case .digest, .confirmed, .restart, .learned: break
                }
            }
            guard !open.isEmpty else { return run }
            let request = open.removeFirst()
            run.requests += 1
            run.bytes += request.body.length
            guard let answer = answer(request) else { return run }
            run.log.append(
                "\(request.method) \(request.url.suffix(24)) \(request.body.length) → \(answer.testDescription)")
            let head = ResponseHead(
                status: answer.status,
                fields: answer.fields(request, run.requests).map { HeaderField($0.0, $0.1) })
            actions = dialogue.handle(
                .answered(
                    UploadAnswer(
                        request: request.id, head: head, body: Array(answer.body.utf8), url: request.url,
                        sent: request.body.length)), now: 1_700_000_000)
        }
        return run
    }

    private static func dialogue(_ kind: Kind, _ state: UploadState?) -> (any UploadDialogue)? {
        switch kind {
        case .s3:
            guard let location = try? S3Location("s3://b/k", endpoint: "https://s3.example") else { return nil }
            return S3Dialogue(
                location: location, credentials: S3Credentials(accessKey: "A", secret: "S"), source: source,
                options: S3Options(threshold: 100, partSize: 1000, minimumPartSize: 1, parallel: 2, integrity: .none),
                state: state)
        case .tus: return TusDialogue(url: "https://h.test/files", source: source, state: state)
        case .resumable:
            return ResumableDialogue(
                source: source, options: ResumableOptions(url: "https://h.test/in/f"), state: state)
        case .files: return FileServerUpload(url: "ftp://h/in/f", source: source, state: state, mark: "m")
        }
    }
}
