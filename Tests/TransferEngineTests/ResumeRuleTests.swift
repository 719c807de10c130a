import Testing
import TransferCore

@testable import TransferEngine

/// Rows: the held bytes, the request, the answer, and the verdict.
@Suite struct ResumeRuleTests {
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let otherDate = "Mon, 07 Nov 1994 08:49:37 GMT"
    static let tag = Validator(etag: "\"a\"")
    static let dated = Validator(lastModified: date, isDateStrong: true)

    /// The held bytes, and the knowledge about them.
    enum Held: String, Sendable, CaseIterable {
        /// 400 of 1000 bytes with the strong tag "a".
        case tagged
        /// 400 of 1000 bytes with a strong date.
        case dated
        /// 400 of 1000 bytes with the strong tag "a"; a digest of the whole file decides.
        case digest
        /// 400 of 1000 bytes of another mirror: only the digest decides.
        case mirror
        /// 400 of 1000 bytes with a weak tag.
        case weak
        /// 400 bytes of a file of unknown length.
        case unbounded
        /// All 1000 bytes.
        case whole
        /// All 1000 bytes with a weak tag.
        case wholeWeak
        /// All 1000 bytes that came, of a file of unknown length.
        case wholeUnbounded
        /// 400 of 1000 bytes of another URL than the requested one.
        case elsewhere
        /// All 1000 bytes with a weak tag, of another URL than the requested one.
        case wholeElsewhere
        /// 400 bytes of the form coded by gzip.
        case coded
        /// 900 of 1000 bytes.
        case nearly
        /// 400 of 1000 bytes of a binary file.
        case binary

        var point: ResumePoint {
            let isWhole = [Held.whole, .wholeWeak, .wholeUnbounded, .wholeElsewhere].contains(self)
            let isUnbounded = self == .unbounded || self == .wholeUnbounded
            var point = ResumePoint(
                offset: isWhole ? 1000 : self == .nearly ? 900_000 : 400, validator: ResumeRuleTests.tag,
                total: isUnbounded ? nil : self == .nearly ? 1_000_000 : 1000,
                isVerifiedByDigest: self == .digest || self == .mirror, outlastsOddAnswers: true)
            switch self {
            case .dated: point.validator = ResumeRuleTests.dated
            case .mirror: point.validator = nil
            case .weak, .wholeWeak, .wholeElsewhere: point.validator = Validator(etag: "W/\"a\"")
            case .coded: point.contentCoding = "gzip"
            case .binary: point.mediaType = "application/octet-stream"
            default: break
            }
            return point
        }

        var isSamePlace: Bool { self != .elsewhere && self != .wholeElsewhere }
    }

    enum Expected: Sendable, Equatable {
        case append(overlap: Int64 = 0)
        case anew
        case plain
        case lastByte
        case whole
        /// The attempt fails, and the bytes stay.
        case odd
        /// The attempt fails with an error status, and the bytes stay.
        case refused
        case complete
        /// The answer is unrelated to the held bytes.
        case none

        init(_ verdict: ResumeRule.Verdict?) {
            switch verdict {
            case nil: self = .none
            case .append(let overlap, _): self = .append(overlap: overlap)
            case .anew: self = .anew
            case .ask(.whole, _): self = .whole
            case .ask(.lastByte(true), _): self = .lastByte
            case .ask: self = .plain
            case .refuse: self = .odd
            case .fail: self = .refused
            case .complete: self = .complete
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let held: Held
        var plain = false
        let status: Int
        let fields: [String: String]
        let expected: Expected
        var doubt: ResumeDoubt?

        init(
            _ held: Held, _ status: Int, _ fields: [String: String] = [:], _ expected: Expected, plain: Bool = false,
            doubt: ResumeDoubt? = nil
        ) {
            (self.held, self.status, self.fields, self.expected, self.plain, self.doubt) =
                (held, status, fields, expected, plain, doubt)
        }

        var testDescription: String {
            "\(held) \(plain ? "plain " : "")\(status) \(fields.sorted { $0.key < $1.key }) \(doubt?.count ?? 0)"
        }

        var head: ResponseHead {
            ResponseHead(status: status, fields: fields.map { HeaderField($0.key, $0.value) })
        }
    }

    static func part(_ range: String, _ etag: String? = "\"a\"", _ more: [String: String] = [:]) -> [String: String] {
        var fields = ["Content-Range": "bytes \(range)"]
        fields["ETag"] = etag
        return fields.merging(more) { $1 }
    }

    static func all(_ etag: String? = "\"a\"", _ more: [String: String] = [:], length: Int = 1000) -> [String: String] {
        var fields = ["Content-Length": "\(length)"]
        fields["ETag"] = etag
        return fields.merging(more) { $1 }
    }

    static let parts: [Row] = [
        Row(.tagged, 206, part("400-999/1000", "\"a\"", ["Content-Length": "600"]), .append()),
        Row(.tagged, 206, part("400-499/1000"), .append()),
        Row(.tagged, 206, part("400-999/*"), .append()),
        Row(.unbounded, 206, part("400-999/*"), .append()),
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000", "Last-Modified": date], .append()),
        // An answer to If-Range may leave out the date, as may a server that ignores If-Range: the request is repeated
        // without the condition.
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000"], .plain),
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""], .plain),
        Row(.mirror, 206, part("400-999/1000", "\"other\""), .append(), plain: true),
        Row(.digest, 206, part("400-999/1000", "\"b\""), .append(), plain: true),
        Row(.digest, 206, part("400-999/1000", nil), .append(), plain: true),
        Row(.coded, 206, part("400-999/1000", "\"a\"", ["Content-Encoding": "gzip"]), .append()),
        // Without a condition the part itself has to name its version.
        Row(.tagged, 206, part("400-999/1000"), .append(), plain: true),
        Row(.tagged, 206, part("400-999/1000", nil), .odd, plain: true),
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000", "Last-Modified": date], .append(), plain: true),
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000"], .odd, plain: true),
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""], .odd, plain: true),
        Row(
            .dated, 206, ["Content-Range": "bytes 400-999/1000"], .whole, plain: true,
            doubt: ResumeDoubt(claim: "untold", count: 2)),
        Row(.whole, 206, part("999-999/1000"), .append(overlap: 1)),
        // A different validator shows a different version.
        Row(.tagged, 206, part("400-999/1000", "\"b\""), .whole),
        Row(.tagged, 206, part("400-999/1000", "W/\"a\""), .whole),
        Row(.dated, 206, ["Content-Range": "bytes 400-999/1000", "Last-Modified": otherDate], .whole),
        Row(.whole, 206, part("999-999/1000", "\"b\""), .whole),
        Row(.elsewhere, 206, part("400-999/1000"), .whole),
        // A range that fits neither the request nor the bytes proves nothing.
        Row(.tagged, 206, ["ETag": "\"a\""], .odd),
        Row(.tagged, 206, ["ETag": "\"a\"", "Content-Type": "multipart/byteranges; boundary=x"], .odd),
        Row(.tagged, 206, part("400-999/1000", "\"a\"", ["Content-Type": "multipart/byteranges; boundary=x"]), .odd),
        Row(.tagged, 206, part("400-1000/1000"), .odd), Row(.tagged, 206, part("*/1000"), .odd),
        Row(.tagged, 206, ["Content-Range": "items 400-999/1000", "ETag": "\"a\""], .odd),
        Row(.tagged, 206, ["Content-Range": "", "ETag": "\"a\""], .odd),
        Row(.tagged, 206, part("401-999/1000"), .odd),
        Row(.tagged, 206, part("400-999/1001"), .odd), Row(.tagged, 206, part("400-998/999"), .odd),
        Row(.digest, 206, part("400-1000/1001"), .odd, plain: true),
        Row(.tagged, 206, part("400-999/1000", "\"a\"", ["Content-Length": "599"]), .odd),
        Row(.tagged, 206, part("400-999/1000", nil), .odd),
        Row(.tagged, 206, part("400-999/1000", "\"a\"", ["Content-Encoding": "gzip"]), .odd),
        Row(.coded, 206, part("400-999/1000"), .odd),
        // A range that begins earlier is accepted if its version is proven. A long overlap is accepted only the second
        // time.
        Row(.tagged, 206, part("0-999/1000"), .append(overlap: 400)),
        Row(.tagged, 206, part("399-999/1000"), .append(overlap: 1)),
        Row(.tagged, 206, part("0-399/1000"), .odd),
        Row(.nearly, 206, part("0-999999/1000000"), .odd),
        Row(.nearly, 206, part("0-999999/1000000"), .append(overlap: 900_000), doubt: ResumeDoubt(claim: "from:0")),
        // The answer came repeatedly.
        Row(.tagged, 206, ["ETag": "\"a\""], .odd, doubt: ResumeDoubt(claim: "range:none", count: 1)),
        Row(.tagged, 206, ["ETag": "\"a\""], .whole, doubt: ResumeDoubt(claim: "range:none", count: 2)),
        Row(.tagged, 206, ["ETag": "\"a\""], .odd, doubt: ResumeDoubt(claim: "from:0", count: 2)),
    ]

    static let wholes: [Row] = [
        // The same version: the range is requested without the condition, which the server ignored.
        Row(.tagged, 200, all(), .plain), Row(.tagged, 203, all(), .plain),
        Row(.dated, 200, ["Last-Modified": date, "Content-Length": "1000"], .plain),
        Row(.tagged, 200, all(), .append(overlap: 400), plain: true),
        Row(.tagged, 200, all("\"a\"", ["Accept-Ranges": "none"]), .append(overlap: 400)),
        Row(.unbounded, 200, all(), .plain),
        Row(.whole, 200, all(), .complete),
        Row(.coded, 200, all("\"a\"", ["Content-Encoding": "gzip"]), .plain),
        Row(.tagged, 200, all(length: 600), .odd),
        // One version has one length, however often the server states another.
        Row(.tagged, 200, all(length: 600), .odd, doubt: ResumeDoubt(claim: "whole:600", count: 3)),
        Row(.tagged, 200, all(length: 1001), .odd, doubt: ResumeDoubt(claim: "whole:1001", count: 3)),
        Row(
            .dated, 200, ["Last-Modified": date, "Content-Length": "600"], .whole,
            doubt: ResumeDoubt(claim: "whole:600", count: 2)),
        // A different version.
        Row(.tagged, 200, all("\"b\""), .anew), Row(.tagged, 200, all("\"b\"", length: 600), .anew),
        Row(.tagged, 200, all("W/\"a\""), .anew),
        Row(.dated, 200, ["Last-Modified": otherDate], .anew),
        Row(.whole, 200, all("\"b\""), .anew),
        Row(.elsewhere, 200, all(), .anew), Row(.elsewhere, 200, all(nil), .odd),
        Row(.elsewhere, 200, all(nil), .anew, doubt: ResumeDoubt(claim: "whole:1000", count: 2)),
        // A digest of the whole file decides.
        Row(.digest, 200, all("\"b\""), .plain), Row(.digest, 200, all("\"b\"", length: 999), .anew),
        Row(.digest, 200, all("\"b\""), .append(overlap: 400), plain: true),
        Row(.mirror, 200, all("\"b\""), .append(overlap: 400), plain: true),
        // The version of the answer is unknown.
        Row(.tagged, 200, ["Content-Length": "46"], .odd),
        Row(.tagged, 200, ["Content-Length": "46", "Content-Type": "text/html"], .odd),
        Row(.tagged, 200, ["Content-Length": "46"], .odd, doubt: ResumeDoubt(claim: "whole:46", count: 3)),
        Row(.tagged, 200, ["Content-Length": "47"], .odd, doubt: ResumeDoubt(claim: "whole:46", count: 2)),
        Row(.tagged, 200, ["Content-Length": "1000"], .append(overlap: 400)),
        // Repetition changes nothing: the same version has different bytes in another coding.
        Row(.tagged, 200, all("\"a\"", ["Content-Encoding": "gzip"], length: 70), .odd),
        Row(
            .tagged, 200, all("\"a\"", ["Content-Encoding": "gzip"], length: 70), .odd,
            doubt: ResumeDoubt(claim: "coding", count: 3)),
        // A new version in a coding that was not requested is another kind of file.
        Row(.tagged, 200, all("\"b\"", ["Content-Encoding": "gzip"], length: 70), .odd),
        Row(
            .tagged, 200, all("\"b\"", ["Content-Encoding": "gzip"], length: 70), .odd,
            doubt: ResumeDoubt(claim: "coding", count: 3)),
        Row(.elsewhere, 200, all("\"b\"", ["Content-Encoding": "br"]), .odd),
        Row(.tagged, 200, all("\"b\"", ["Content-Encoding": "identity"]), .anew),
        Row(.coded, 200, all("\"b\"", ["Content-Encoding": "x-gzip"]), .anew),
        Row(.weak, 200, all("\"b\"", ["Content-Encoding": "gzip"]), .anew),
        // In the opposite case the server at last sends the requested form.
        Row(.coded, 200, all(), .odd),
        Row(.coded, 200, all(), .anew, doubt: ResumeDoubt(claim: "whole:1000", count: 2)),
        Row(
            .digest, 200, all("\"a\"", ["Content-Encoding": "gzip"], length: 70), .anew,
            doubt: ResumeDoubt(claim: "whole:70", count: 2)),
        // An HTML page never becomes the file, however often it comes and whatever tag it has.
        Row(
            .tagged, 200, ["Content-Length": "46", "Content-Type": "text/html; charset=utf-8"], .odd,
            doubt: ResumeDoubt(claim: "page", count: 3)),
        Row(.binary, 200, all("\"page\"", ["Content-Type": "text/html"], length: 46), .odd),
        Row(.mirror, 200, ["Content-Length": "46", "Content-Type": "text/html"], .odd),
        Row(.tagged, 200, all("\"b\"", ["Content-Type": "text/html"]), .anew),
        Row(.digest, 200, ["Content-Length": "46", "Content-Type": "text/html"], .odd),
        // An answer without any version never replaces a file that had one.
        Row(.binary, 200, ["Content-Length": "0"], .odd, doubt: ResumeDoubt(claim: "whole:0", count: 3)),
        Row(.tagged, 200, ["Transfer-Encoding": "chunked"], .odd, doubt: ResumeDoubt(claim: "whole:", count: 3)),
        // With a digest such an answer is harmless.
        Row(.digest, 200, all(nil, length: 999), .anew, doubt: ResumeDoubt(claim: "whole:999", count: 2)),
        // The server's bytes repeatedly differ from the held bytes.
        Row(.tagged, 200, all(), .anew, doubt: ResumeDoubt(claim: "bytes", count: 3)),
        Row(.tagged, 200, all(), .plain, doubt: ResumeDoubt(claim: "bytes", count: 2)),
        // The answers of rclone's S3 server to range requests.
        Row(.tagged, 200, part("400-999/1000", "\"a\"", ["Content-Length": "600"]), .append()),
        Row(.tagged, 200, part("400-999/1000", "\"b\"", ["Content-Length": "600"]), .whole),
        Row(.tagged, 200, part("500-999/1000"), .odd), Row(.tagged, 200, part("nonsense"), .odd),
        Row(.tagged, 200, part("0-999/1000", "\"a\"", ["Content-Length": "1000"]), .plain),
    ]

    static let others: [Row] = [
        // A 416 alone decides nothing: some servers send it for a new version of the same length.
        Row(.tagged, 416, [:], .odd), Row(.tagged, 416, ["ETag": "\"a\""], .odd),
        Row(.tagged, 416, ["Content-Range": "bytes */1000", "ETag": "\"a\""], .odd),
        Row(.tagged, 416, ["Content-Range": "bytes */300"], .odd),
        Row(.tagged, 416, ["Content-Range": "bytes */300", "ETag": "\"b\""], .whole),
        Row(.tagged, 416, [:], .whole, doubt: ResumeDoubt(claim: "unsatisfiable:", count: 2)),
        Row(.whole, 416, [:], .odd), Row(.whole, 416, ["Content-Range": "bytes */1000"], .odd),
        Row(.whole, 416, ["Content-Range": "bytes */999", "ETag": "\"a\""], .odd),
        Row(.whole, 416, ["Content-Range": "nonsense", "ETag": "\"a\""], .odd),
        Row(.whole, 416, ["Content-Range": "bytes */1000", "ETag": "\"b\""], .whole),
        Row(.whole, 416, ["Content-Range": "bytes */1000", "ETag": "\"a\""], .complete),
        Row(.wholeUnbounded, 416, ["Content-Range": "bytes */1000", "ETag": "\"a\""], .complete),
        Row(.wholeUnbounded, 416, ["Content-Range": "bytes */1000"], .lastByte),
        Row(.elsewhere, 416, ["Content-Range": "bytes */1000", "ETag": "\"a\""], .whole),
        // A complete stored answer need not be strong to be validated (RFC 9111 §4.3).
        Row(.wholeWeak, 304, ["ETag": "W/\"a\""], .complete), Row(.wholeWeak, 200, all("W/\"a\""), .anew),
        // A 304 about another resource proves nothing (RFC 9110 §8.8.3).
        Row(.wholeElsewhere, 304, ["ETag": "W/\"a\""], .whole),
        // An unregistered 2xx status is treated as 200 (RFC 9110 §15).
        Row(.tagged, 299, all("\"b\""), .anew), Row(.tagged, 218, all(), .plain), Row(.tagged, 226, all(), .odd),
        // A success that is neither the file nor a part of it.
        Row(.tagged, 304, ["ETag": "\"a\""], .odd), Row(.tagged, 204, [:], .odd), Row(.tagged, 202, [:], .odd),
        Row(.tagged, 205, [:], .odd, doubt: ResumeDoubt(claim: "status:205", count: 3)),
        // Without a range in the request no server may answer with one.
        Row(.weak, 206, part("400-999/1000"), .odd), Row(.weak, 416, [:], .odd),
        Row(.weak, 200, all("W/\"a\""), .anew), Row(.weak, 200, all(nil), .anew),
        Row(.tagged, 404, [:], .none), Row(.tagged, 302, [:], .none),
    ]

    @Test(arguments: parts + wholes + others + refusals) func judges(_ row: Row) {
        var point = row.held.point
        point.doubt = row.doubt
        let rule = ResumeRule(point: point, isSamePlace: row.held.isSamePlace)
        // Refuted bytes are requested whole at once; the row needs the first request of the rule all the same.
        var question = ResumeRule(point: row.held.point).firstQuestion.question
        if row.plain, let plain = question.unconditional { question = plain }
        #expect(Expected(rule.judge(row.head, to: question)) == row.expected)
    }

    /// Callers whose bytes are cheap restart where other callers would fail an attempt.
    @Test(arguments: parts + wholes + others + refusals) func nothingIsOddWhereBytesAreCheap(_ row: Row) {
        var point = row.held.point
        point.doubt = row.doubt
        point.outlastsOddAnswers = false
        let rule = ResumeRule(point: point, isSamePlace: row.held.isSamePlace)
        var question = rule.firstQuestion.question
        if row.plain, let plain = question.unconditional { question = plain }
        #expect(Expected(rule.judge(row.head, to: question)) != .odd)
    }

    @Test(
        arguments: [
            (.tagged, ["Range": "bytes=400-", "If-Range": "\"a\""]),
            (.dated, ["Range": "bytes=400-", "If-Range": date]),
            (.digest, ["Range": "bytes=400-", "If-Range": "\"a\""]), (.mirror, ["Range": "bytes=400-"]), (.weak, [:]),
            (.unbounded, ["Range": "bytes=400-", "If-Range": "\"a\""]),
            (.whole, ["Range": "bytes=999-", "If-Range": "\"a\""]), (.wholeWeak, ["If-None-Match": "W/\"a\""]),
            (.wholeUnbounded, ["Range": "bytes=1000-", "If-Range": "\"a\""]),
        ] as [(Held, [String: String])])
    func asks(_ held: Held, _ fields: [String: String]) {
        let question = ResumeRule(point: held.point).firstQuestion.question
        let asked = Dictionary(uniqueKeysWithValues: question.fields(held.point).map { ($0.name, $0.value) })
        #expect(asked == fields)
    }

    @Test(
        arguments: [
            (nil, "neither ETag nor Last-Modified"), (Validator(etag: "W/\"a\""), "too weak"),
            (Validator(lastModified: date), "too weak"),
            (Validator(etag: "W/\"a\"", lastModified: date, isDateStrong: true), "too weak"),
        ] as [(Validator?, String)])
    func weakValidatorsAreNotUsedAsConditions(_ validator: Validator?, _ reason: String) {
        let (question, restart) = ResumeRule(point: ResumePoint(offset: 400, validator: validator, total: 1000))
            .firstQuestion
        #expect(question == .whole && restart?.contains(reason) == true)
    }

    /// The odd answers were confirmed, and the whole file was requested.
    @Test func aRequestedFullAnswerIsAcceptedWithItsValidator() {
        let rule = ResumeRule(point: Held.tagged.point)
        let plain = head(200, ["ETag": "\"a\"", "Content-Length": "70", "Content-Encoding": "gzip"])
        #expect(Expected(rule.judge(plain, to: .whole)) == .odd)
        #expect(Expected(rule.judge(head(200, ["ETag": "\"a\"", "Content-Length": "990"]), to: .whole)) == .odd)
        #expect(Expected(rule.judge(head(200, ["ETag": "\"b\"", "Content-Length": "990"]), to: .whole)) == .anew)
        #expect(Expected(rule.judge(head(200, ["Content-Length": "46"]), to: .whole)) == .odd)
    }

    /// A strong tag with another length is refused, unless the ranges of several attempts stated that length.
    @Test func aLengthThatRangesStatedRepeatedlyIsBelieved() {
        let answer = head(200, ["ETag": "\"a\"", "Content-Length": "990"])
        var point = Held.tagged.point
        for (claim, count, expected) in [
            ("total:990", 2, Expected.anew), ("unsatisfiable:990", 2, .anew), ("total:990", 1, .odd),
            ("total:991", 3, .odd),
        ] {
            point.doubt = ResumeDoubt(claim: claim, count: count)
            #expect(Expected(ResumeRule(point: point).judge(answer, to: .whole)) == expected, "\(claim) \(count)")
        }
    }

    @Test func aCodingThatWasRequestedMayBeThatOfANewVersion() {
        let answer = head(200, ["ETag": "\"b\"", "Content-Length": "70", "Content-Encoding": "gzip"])
        let rule = ResumeRule(point: Held.tagged.point, headers: [HeaderField("Accept-Encoding", "br, gzip")])
        #expect(Expected(rule.judge(answer, to: .rest(isConditional: true))) == .anew)
    }

    @Test func moreBytesThanThereAreAreNotContinued() {
        let point = ResumePoint(offset: 1001, validator: Self.tag, total: 1000)
        #expect(ResumeRule(point: point).firstQuestion.question == .whole)
    }

    @Test func bytesThatAreRefutedAreAskedForWhole() {
        var point = Held.tagged.point
        point.doubt = ResumeDoubt(claim: "bytes", count: 3)
        #expect(ResumeRule(point: point).firstQuestion.question == .whole)
    }

    @Test func theTotalThatWasKnownStays() {
        let verdict = ResumeRule(point: Held.tagged.point)
            .judge(Row(.tagged, 206, Self.part("400-999/*"), .append()).head, to: .rest(isConditional: true))
        #expect(verdict == .append(overlap: 0, total: 1000))
    }

    @Test func reasonsNameWhatChanged() {
        let rule = ResumeRule(point: Held.tagged.point)
        #expect(
            rule.judge(head(200, ["ETag": "\"b\""]), to: .rest(isConditional: true))
                == .anew(reason: "changed on server (ETag a→b)"))
        let dated = ResumeRule(point: Held.dated.point)
        #expect(
            dated.judge(head(200, ["Last-Modified": Self.otherDate]), to: .rest(isConditional: true))
                == .anew(reason: "changed on server (Last-Modified \(Self.date)→\(Self.otherDate))"))
    }
}
