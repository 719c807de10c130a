import Testing
import TransferCore

@testable import TransferUpload

/// A PUT whose answer was lost.
@Suite struct ConfirmingPutTests {
    /// 21 Nov 2026, 12:00:00 UTC, by the server's clock; this machine's is 100 s ahead of it.
    private static let date = "Sat, 21 Nov 2026 12:00:00 GMT"
    private let now: Int64 = 1_795_262_500

    private func dialogue(began secondsAgo: Int64) throws -> ConfirmingPut {
        try #require(
            ConfirmingPut(
                url: "http://h/f", source: UploadSource(name: "f", size: 10),
                state: ConfirmingPut.state(began: now - secondsAgo)))
    }

    private func answer(_ request: Int, _ status: Int, _ fields: [HeaderField]) -> UploadEvent {
        .answered(UploadAnswer(request: request, head: ResponseHead(status: status, fields: fields), url: "http://h/f"))
    }

    private func fields(_ length: String = "10", modified: String?, date: String? = date) -> [HeaderField] {
        [HeaderField("Content-Length", length), HeaderField("ETag", "\"e\"")]
            + (modified.map { [HeaderField("Last-Modified", $0)] } ?? [])
            + (date.map { [HeaderField("Date", $0)] } ?? [])
    }

    @Test func whatIsThereSinceTheAttemptBeganIsNotSentAgain() throws {
        var put = try dialogue(began: 30)
        guard case .send(let head)? = put.begin(now: now).first else { return #expect(Bool(false)) }
        #expect(head.method == "HEAD" && head.url == "http://h/f")
        let actions = put.handle(answer(1, 200, fields(modified: "Sat, 21 Nov 2026 11:59:35 GMT")), now: now)
        guard case .finish(let result)? = actions.first else { return #expect(Bool(false)) }
        #expect(result.validator == "\"e\"" && actions.count == 1)
    }

    @Test(
        arguments: [
            (404, "10", "Sat, 21 Nov 2026 11:59:35 GMT", date), (200, "9", "Sat, 21 Nov 2026 11:59:35 GMT", date),
            (200, "10", "Sat, 21 Nov 2026 11:59:20 GMT", date), (200, "10", "Sat, 21 Nov 2026 12:00:09 GMT", date),
            (200, "10", nil, date), (200, "10", "Sat, 21 Nov 2026 11:59:35 GMT", nil),
            (405, "0", nil, date),
        ] as [(Int, String, String?, String?)])
    func whateverElseIsThereIsReplaced(_ status: Int, _ length: String, _ modified: String?, _ date: String?) throws {
        var put = try dialogue(began: 30)
        _ = put.begin(now: now)
        let actions = put.handle(answer(1, status, fields(length, modified: modified, date: date)), now: now)
        guard case .send(let request)? = actions.first else { return #expect(Bool(false)) }
        #expect(request.method == "PUT" && request.body == .source(0..<10))
        guard case .finish? = put.handle(answer(2, 201, []), now: now).first else { return #expect(Bool(false)) }
    }

    @Test func aServerThatCannotBeAskedIsAskedAgainLater() throws {
        var put = try dialogue(began: 30)
        _ = put.begin(now: now)
        let error = TransferError(.connectionLost, "lost", isTransient: true)
        #expect(put.handle(.failed(request: 1, error, sent: 0), now: now) == [.fail(error)])
    }

    @Test func theStateOfAnotherProtocolIsNone() {
        let source = UploadSource(name: "f", size: 1)
        #expect(ConfirmingPut(url: "http://h/f", source: source, state: "{}") == nil)
        #expect(ConfirmingPut(url: "http://h/f", source: source, state: "put:x") == nil)
    }
}
