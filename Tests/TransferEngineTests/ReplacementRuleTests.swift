import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// An answer that is to replace a complete file. Each row has the claims of the file and those of the answer.
@Suite("Replacing complete files") struct ReplacementRuleTests {
    private static let url = "http://a.example/f"

    private static func file(
        etag: String? = "\"1\"", mediaType: String? = nil, coding: String? = nil, isBinary: Bool = false,
        mustBeSame: Bool = false
    ) -> HeldFile {
        HeldFile(
            version: etag.map { HeldVersion(Validator(etag: $0), of: nil) }, length: 1000, mediaType: mediaType,
            contentCoding: coding, isBinary: isBinary, mustBeSame: mustBeSame)
    }

    private static func head(_ fields: [String: String], status: Int = 200) -> ResponseHead {
        ResponseHead(status: status, fields: fields.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) })
    }

    private static let html = "text/html; charset=utf-8"

    @Test(
        arguments: [
            // An answer without a version does not replace a version.
            (file(), ["Content-Length": "18"], "does not say of which version"),
            (file(), [:], "does not say of which version"), (file(), ["ETag": "\"2\""], nil),
            (file(), ["Last-Modified": "Mon, 01 Jan 2024 10:00:00 GMT"], nil),
            (file(etag: nil), ["Content-Length": "18"], nil), (file(etag: nil), [:], nil),
            // One version has one length and one coding.
            (file(), ["ETag": "\"1\"", "Content-Length": "1000"], nil),
            (file(), ["ETag": "\"1\"", "Content-Length": "18"], "18 bytes as all of a file of 1000"),
            (file(coding: ""), ["ETag": "\"1\"", "Content-Encoding": "gzip"], "another content coding (gzip)"),
            (file(coding: "gzip"), ["ETag": "\"1\""], "another content coding (none)"),
            (file(coding: "gzip"), ["ETag": "\"1\"", "Content-Encoding": "GZIP"], nil),
            (file(), ["ETag": "\"1\"", "Content-Encoding": "gzip", "Content-Length": "9"], nil),
            // A coding for which the request did not ask is another kind of file.
            (file(coding: ""), ["ETag": "\"2\"", "Content-Encoding": "gzip"], "not requested (gzip)"),
            (file(etag: nil, coding: ""), ["Content-Encoding": "br"], "not requested (br)"),
            (file(coding: "gzip"), ["ETag": "\"2\"", "Content-Encoding": "br"], "not requested (br)"),
            (file(coding: "gzip"), ["ETag": "\"2\"", "Content-Encoding": "x-gzip"], nil),
            (file(coding: "gzip"), ["ETag": "\"2\""], nil),
            (file(coding: ""), ["ETag": "\"2\"", "Content-Encoding": "identity"], nil),
            (file(), ["ETag": "\"2\"", "Content-Encoding": "gzip"], nil),
            // An HTML page replaces only an HTML page, even with a version of its own.
            (file(mediaType: "application/zip"), ["ETag": "\"2\"", "Content-Type": html], "a page of HTML"),
            (file(mediaType: "text/html"), ["ETag": "\"2\"", "Content-Type": html], nil),
            (file(etag: nil, mediaType: "text/html"), ["Content-Type": html], nil),
            (file(isBinary: true), ["ETag": "\"2\"", "Content-Type": html], "a page of HTML"),
            (file(etag: nil, isBinary: true), ["Content-Type": "application/xhtml+xml"], "a page of HTML"),
            (file(), ["ETag": "\"2\"", "Content-Type": html], nil), (file(), ["Content-Type": html], "a page of HTML"),
            (file(etag: nil), ["Content-Type": html], nil),
            // An empty answer replaces a file only with a version.
            (file(etag: nil), ["Content-Length": "0"], "an empty answer"),
            (file(), ["Content-Length": "0", "ETag": "\"2\""], nil),
            // A repair needs the same bytes, whatever their version is called now.
            (file(mustBeSame: true), ["ETag": "\"2\"", "Content-Length": "18"], "18 bytes as all"),
            (file(mustBeSame: true), ["ETag": "\"2\"", "Content-Length": "1000"], nil),
            (file(etag: nil, mustBeSame: true), ["Content-Length": "1001"], "1001 bytes as all"),
        ] as [(HeldFile, [String: String], String?)])
    func theClaimsOfTheFileDecide(_ file: HeldFile, _ fields: [String: String], _ expected: String?) {
        let reason = ReplacementRule.refusal(of: Self.head(fields), for: file, isSamePlace: true, decodes: false)
        #expect((reason == nil) == (expected == nil), "\(reason ?? "taken")")
        if let expected { #expect(reason?.contains(expected) == true, "\(reason ?? "taken")") }
    }

    @Test(
        arguments: [
            ("gzip", false), ("br;q=0.9, GZIP;q=0.1", false), ("*", false), ("identity", true), ("gzip;q=0", true),
            ("gzip; q=0.000, br", true),
        ])
    func aRequestedCodingIsTaken(_ asked: String, _ isRefused: Bool) {
        let head = Self.head(["ETag": "\"2\"", "Content-Encoding": "gzip"])
        let reason = ReplacementRule.refusal(
            of: head, for: Self.file(coding: ""), isSamePlace: true, decodes: false,
            headers: [HeaderField("Accept-Encoding", asked)])
        #expect((reason != nil) == isRefused, "\(reason ?? "taken")")
        let decoded = ReplacementRule.refusal(of: head, for: Self.file(coding: ""), isSamePlace: true, decodes: true)
        #expect(decoded == nil)
    }

    @Test func anotherResourcesTagSaysNothingOfLengths() {
        let head = Self.head(["ETag": "\"1\"", "Content-Length": "18"])
        #expect(ReplacementRule.refusal(of: head, for: Self.file(), isSamePlace: false, decodes: false) == nil)
    }

    // MARK: The machine

    private static func end(
        _ head: ResponseHead, position: Int64, replacing file: HeldFile?, resume: ResumePoint? = nil
    ) -> String {
        var request = ExchangeRequest(url: url, intent: .representation(resume))
        request.replaced = file
        var machine = ExchangeMachine(request)
        _ = machine.start()
        _ = machine.received(head, redirectTarget: nil, now: 0)
        switch machine.hopEnded(nil, position: position) {
        case .perform: return "again"
        case .succeed(let head): return "\(head.status)"
        case .fail(let error): return error.message
        }
    }

    @Test func aRefusedAnswerFailsTheAttemptAndSaysWhatCame() {
        let page = Self.head(["Content-Type": "text/plain", "Content-Length": "18"])
        #expect(
            Self.end(page, position: 0, replacing: Self.file())
                == "the answer (text/plain, 18 bytes) does not say of which version it is; the file that is there stays"
        )
        #expect(Self.end(page, position: 18, replacing: nil) == "200")
    }

    /// The length of a chunked body is known only at its end.
    @Test func anEmptyBodyWithoutALengthIsRefusedAtItsEnd() {
        let head = Self.head(["Transfer-Encoding": "chunked"])
        #expect(Self.end(head, position: 0, replacing: Self.file(etag: nil)).hasPrefix("an empty answer"))
        #expect(Self.end(head, position: 1, replacing: Self.file(etag: nil)) == "200")
    }

    /// An abandoned partial file leads to the rule for the complete file.
    @Test func aNewBeginningOfAPartialFileIsJudgedToo() {
        let point = ResumePoint(offset: 10, validator: nil, total: 20)
        #expect(Self.end(Self.head([:]), position: 5, replacing: Self.file(), resume: point).contains("stays"))
    }

    // MARK: Parts that are the whole

    @Test(
        arguments: [
            (["Content-Range": "bytes 0-4/5"], "206"),
            (["Content-Range": "bytes 0-4/5", "Content-Length": "5"], "206"),
            (["Content-Range": "bytes 0-4/5", "Content-Length": "4"], "without a range"),
            (["Content-Range": "bytes 0-3/5"], "without a range"),
            (["Content-Range": "bytes 1-4/5"], "without a range"),
            (["Content-Range": "bytes 0-4/*"], "without a range"), ([:], "without a range"),
        ] as [([String: String], String)])
    func aPartThatIsTheWholeIsTheFile(_ fields: [String: String], _ expected: String) {
        #expect(Self.end(Self.head(fields, status: 206), position: 5, replacing: nil).contains(expected))
    }

    @Test func twoContentRangesNameNoPart() {
        let field = HeaderField("Content-Range", "bytes 0-4/5")
        let head = ResponseHead(status: 206, fields: [field, field])
        #expect(Self.end(head, position: 5, replacing: nil).contains("without a range"))
    }

    // MARK: Samples

    @Test(
        arguments: [
            (Array("plain\r\n\ttext".utf8), false), (Array("PK\u{3}\u{4}".utf8), true),
            ([0x7F, 0x45, 0x4C, 0x46, 0], true),
            (Array("caf\u{E9}".utf8), false), ([0xFF, 0xFE, 0x61, 0], false), ([], false),
        ] as [([UInt8], Bool)])
    func binaryBytesAreRecognised(_ bytes: [UInt8], _ isBinary: Bool) {
        #expect(FileSample.isBinary(bytes) == isBinary)
    }
}
