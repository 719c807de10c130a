import Testing
import TransferCore

@testable import TransferEngine

/// Every wrong answer to a request for a part of a file, in each state of the part. No byte of it is delivered, and no
/// other range is ever requested.
@Suite struct PartAnswerTests {
    /// The bytes from 400 up to 600 of a file of 1,000 bytes.
    enum State: String, CaseIterable {
        /// The version is known by a strong tag.
        case tagged
        /// A digest of the whole file decides, and the source has a tag of its own.
        case proven
        /// A digest of the whole file decides, and the source has not answered yet.
        case provenUntagged
        /// The part is the end of the file.
        case last

        var point: ResumePoint {
            let tag = self == .provenUntagged ? nil : Validator(etag: "\"a\"")
            var point = ResumePoint(
                offset: 400, validator: tag, total: 1000,
                isVerifiedByDigest: self == .proven || self == .provenUntagged)
            point.end = self == .last ? 1000 : 600
            point.isPart = true
            point.namesEnd = true
            return point
        }

        var range: String { self == .last ? "bytes=400-999" : "bytes=400-599" }
        var isProven: Bool { point.isVerifiedByDigest }
    }

    private static let tag = ["ETag": "\"a\""]

    private static func answer(_ status: Int, _ fields: [String: String] = [:]) -> ResponseHead {
        ResponseHead(status: status, fields: fields.map { HeaderField($0.key, $0.value) })
    }

    private static func part(_ range: String, _ fields: [String: String] = tag) -> ResponseHead {
        answer(206, ["Content-Range": range].merging(fields) { $1 })
    }

    private static func twoTags(_ one: String, _ other: String) -> ResponseHead {
        let tags = [HeaderField("ETag", one), HeaderField("ETag", other)]
        return ResponseHead(status: 206, fields: [HeaderField("Content-Range", "bytes 400-599/1000")] + tags)
    }

    static let wrong: [(String, ResponseHead)] = [
        ("the whole file", answer(200, ["Content-Length": "1000"].merging(tag) { $1 })),
        ("the whole of another version", answer(200, ["Content-Length": "900", "ETag": "\"b\""])),
        ("a page", answer(200, ["Content-Length": "300", "Content-Type": "text/html"])),
        ("an empty success", answer(204)),
        ("not modified", answer(304, tag)),
        ("no range", answer(206, tag)),
        ("several ranges", answer(206, ["Content-Type": "multipart/byteranges; boundary=x"])),
        (
            "several ranges that name one",
            part("bytes 400-599/1000", tag.merging(["Content-Type": "multipart/byteranges; boundary=x"]) { $1 })
        ),
        ("a malformed range", part("bytes 400-x/1000")),
        ("another unit", part("lines 400-599/1000")),
        ("an earlier range", part("bytes 399-599/1000")),
        ("the beginning", part("bytes 0-199/1000")),
        ("a later range", part("bytes 401-599/1000")),
        ("a range that is turned round", part("bytes 599-400/1000")),
        ("another total", part("bytes 400-599/1001")),
        ("a range behind the file", part("bytes 400-1000/1000")),
        ("another length", part("bytes 400-599/1000", tag.merging(["Content-Length": "100"]) { $1 })),
        ("no such range", answer(416, ["Content-Range": "bytes */1000"])),
        ("no such range of a shorter file", answer(416, ["Content-Range": "bytes */300"])),
        ("gone", answer(404)), ("forbidden", answer(403)), ("too many", answer(429)), ("busy", answer(503)),
        ("broken", answer(500)), ("a redirect to nowhere", answer(302)),
    ]

    /// Answers that are wrong unless a digest of the whole file decides.
    static let strange: [(String, ResponseHead)] = [
        ("another version", part("bytes 400-599/1000", ["ETag": "\"b\""])),
        ("no word of its version", part("bytes 400-599/1000", [:])),
        ("a weak tag", part("bytes 400-599/1000", ["ETag": "W/\"a\""])),
        ("a tag that is none", part("bytes 400-599/1000", ["ETag": "a"])),
        ("two tags", twoTags("\"a\"", "\"b\"")), ("two tags, the other one first", twoTags("\"b\"", "\"a\"")),
    ]

    private func machine(_ state: State) -> ExchangeMachine {
        ExchangeMachine(
            ExchangeRequest(
                url: ExchangeMachineTests.url, method: "GET", body: .none, intent: .representation(state.point)))
    }

    /// Gives the same answer to each request, until the exchange ends.
    private func expectNoByte(_ answer: ResponseHead, _ state: State, _ name: String) {
        var machine = machine(state)
        var hop = machine.start()
        for _ in 0..<8 {
            #expect(hop.headers.value("Range") == state.range, "\(name), \(state)")
            if case .deliver = machine.received(answer, redirectTarget: nil, now: 0) {
                Issue.record("\(name), \(state): it was delivered")
                return
            }
            switch machine.hopEnded(nil, position: 400) {
            case .perform(let next): hop = next
            case .fail: return
            case .succeed:
                Issue.record("\(name), \(state): a success without a byte")
                return
            }
        }
        Issue.record("\(name), \(state): it does not end")
    }

    @Test(arguments: State.allCases) func aWrongAnswerBringsNoByteAndAsksForNothingElse(_ state: State) {
        for (name, answer) in Self.wrong { expectNoByte(answer, state, name) }
        if !state.isProven { for (name, answer) in Self.strange { expectNoByte(answer, state, name) } }
    }

    @Test(arguments: State.allCases) func thePartAndItsBeginningAreTaken(_ state: State) {
        let whole = state == .last ? "bytes 400-999/1000" : "bytes 400-599/1000"
        var answers = [Self.part(whole), Self.part("bytes 400-499/1000"), Self.part("bytes 400-400/1000")]
        if state.isProven { answers += Self.strange.map(\.1) }
        for answer in answers {
            var machine = machine(state)
            _ = machine.start()
            guard case .deliver(let start) = machine.received(answer, redirectTarget: nil, now: 0) else {
                Issue.record("\(state): \(answer.fields) was refused")
                continue
            }
            #expect(start.offset == 400 && start.overlap == 0 && start.total == 1000)
        }
    }
}
