import Testing
import TransferCore
import TransferCrypto

@testable import TransferUpload

/// A PUT of which an earlier attempt may have arrived.
@Suite struct ConfirmingPutTests {
    /// 21 Nov 2026, 12:00:00 UTC.
    private static let date = "Sat, 21 Nov 2026 12:00:00 GMT"
    private static let beforeTheAttempt = "Sat, 21 Nov 2026 11:59:20 GMT"
    private static let sinceTheAttempt = "Sat, 21 Nov 2026 11:59:40 GMT"
    /// A time within the tolerance for clocks that differ.
    private static let atItsBegin = "Sat, 21 Nov 2026 11:59:31 GMT"
    private let now: Int64 = 1_795_262_400
    private static let large = RemoteCopy.comparedAtMost + 1
    private let own: Checksum
    private let other: Checksum

    init() throws {
        own = try #require(Checksum(.sha256, bytes: Array(repeating: 1, count: 32)))
        other = try #require(Checksum(.sha256, bytes: Array(repeating: 2, count: 32)))
    }

    /// Returns a dialogue whose earlier attempt began half a minute ago.
    private func dialogue(
        size: Int64 = 10, digest: Checksum? = nil, began: Int64? = nil, otherwise: (any UploadDialogue)? = nil
    ) throws -> ConfirmingPut {
        var put = try #require(
            ConfirmingPut(
                url: "http://h/f", source: UploadSource(name: "f", size: size, digest: digest),
                state: ConfirmingPut.state(began: began ?? now - 30), otherwise: otherwise))
        guard case .send(let head)? = put.begin(now: now).first else { throw Failure() }
        #expect(head.method == "HEAD" && head.url == "http://h/f" && head.headers.value("Want-Repr-Digest") != nil)
        return put
    }

    private struct Failure: Error {}

    private func answer(_ status: Int, _ fields: [HeaderField] = [], digest: Checksum? = nil) -> UploadEvent {
        var answer = UploadAnswer(
            request: 1, head: ResponseHead(status: status, fields: fields), url: "http://h/f")
        answer.digest = digest
        return .answered(answer)
    }

    private func fields(
        _ length: Int64 = 10, modified: String?, date: String? = date, digest: Checksum? = nil
    ) -> [HeaderField] {
        [HeaderField("Content-Length", String(length)), HeaderField("ETag", "\"e\"")]
            + (modified.map { [HeaderField("Last-Modified", $0)] } ?? [])
            + (date.map { [HeaderField("Date", $0)] } ?? [])
            + (digest.flatMap { ReprDigest.field($0) }.map { [$0] } ?? [])
    }

    /// Returns the method of the only request among the actions, besides the notice that the file is sent again.
    private func method(_ actions: [UploadAction]) -> String? {
        let actions = actions.filter { if case .restart = $0 { false } else { true } }
        guard case .send(let request)? = actions.first, actions.count == 1 else { return nil }
        return request.method
    }

    private func result(_ actions: [UploadAction]) -> UploadResult? {
        guard case .finish(let result)? = actions.first, actions.count == 1 else { return nil }
        return result
    }

    /// A time is no proof: another client or an earlier request may have stored another version after it.
    @Test(arguments: [sinceTheAttempt, atItsBegin, nil] as [String?])
    func aFileOfTheSameSizeIsReadBackAndCompared(_ modified: String?) throws {
        for isOurs in [true, false] {
            var put = try dialogue()
            let asked = put.handle(answer(200, fields(modified: modified)), now: now)
            guard case .send(let get)? = asked.first else { throw Failure() }
            #expect(get.method == "GET" && get.digests == .sha256)
            let compared = put.handle(answer(200, fields(modified: modified), digest: own), now: now)
            #expect(compared == [.digest(id: 1, .sha256, 0..<10)])
            let end = put.handle(.digested(id: 1, isOurs ? own : other), now: now)
            if isOurs {
                #expect(result(end)?.validator == "\"e\"" && result(end)?.digest == own)
            } else {
                #expect(method(end) == "PUT")
            }
        }
    }

    @Test func aDigestOfTheServersIsCompared() throws {
        for (servers, isOurs) in [(own, true), (other, false)] {
            for known in [nil, own] {
                var put = try dialogue(size: Self.large, digest: known)
                var end = put.handle(
                    answer(200, fields(Self.large, modified: Self.sinceTheAttempt, digest: servers)), now: now)
                if known == nil {
                    #expect(end == [.digest(id: 1, .sha256, 0..<Self.large)])
                    end = put.handle(.digested(id: 1, own), now: now)
                }
                #expect(isOurs ? result(end)?.digest == own : method(end) == "PUT")
            }
        }
    }

    @Test func aKnownDigestSaysInWhichAlgorithmItIsReadBack() throws {
        let known = Checksum(.sha512, bytes: Array(repeating: 3, count: 64))
        var put = try dialogue(digest: known)
        guard case .send(let get)? = put.handle(answer(200, fields(modified: Self.atItsBegin)), now: now).first
        else { throw Failure() }
        #expect(get.digests == .sha512)
        #expect(result(put.handle(answer(200, digest: known), now: now))?.digest == known)
    }

    @Test func anOlderFileIsNotReadBack() throws {
        var put = try dialogue()
        #expect(method(put.handle(answer(200, fields(modified: Self.beforeTheAttempt)), now: now)) == "PUT")
    }

    @Test(arguments: [(404, 10, 200), (200, 9, 200), (405, 0, 200), (200, 10, 403), (200, 10, 405)])
    func anyOtherFileIsReplaced(_ status: Int, _ length: Int64, _ statusOfGet: Int) throws {
        var put = try dialogue()
        var actions = put.handle(answer(status, fields(length, modified: Self.atItsBegin)), now: now)
        if method(actions) == "GET" { actions = put.handle(answer(statusOfGet), now: now) }
        guard case .send(let request)? = actions.last else { throw Failure() }
        #expect(request.method == "PUT" && request.body == .source(0..<10))
        guard case .restart(let reason)? = actions.first else { throw Failure() }
        #expect(reason.hasPrefix("an earlier attempt may have sent it"))
        guard case .finish? = put.handle(answer(201), now: now).first else { throw Failure() }
    }

    /// If the content cannot be read back, only an unambiguous time counts.
    @Test(
        arguments: [
            (sinceTheAttempt, date, true), (atItsBegin, date, false), (beforeTheAttempt, date, false),
            (nil, date, false), (sinceTheAttempt, nil, false), ("Sat, 21 Nov 2026 12:00:09 GMT", date, false),
        ] as [(String?, String?, Bool)])
    func anUnreadableOrLargeFileIsJudgedByItsTime(_ modified: String?, _ date: String?, _ isOurs: Bool) throws {
        var put = try dialogue(size: Self.large)
        let end = put.handle(answer(200, fields(Self.large, modified: modified, date: date)), now: now)
        #expect(isOurs ? result(end) != nil : method(end) == "PUT")
        var refused = try dialogue()
        var other = refused.handle(answer(200, fields(modified: modified, date: date)), now: now)
        if method(other) == "GET" { other = refused.handle(answer(403), now: now) }
        #expect(isOurs ? result(other) != nil : method(other) == "PUT")
    }

    /// A file from three minutes before the attempt. Either this machine's clock was set an hour ahead since, or the
    /// server's clock is an hour ahead.
    @Test func aClockThatIsOffIsNoProof() throws {
        var put = try #require(
            ConfirmingPut(
                url: "http://h/f", source: UploadSource(name: "f", size: Self.large),
                state: ConfirmingPut.state(began: now - 30)))
        _ = put.begin(now: now + 3600)
        let old = fields(Self.large, modified: "Sat, 21 Nov 2026 11:56:30 GMT")
        #expect(method(put.handle(answer(200, old), now: now + 3600)) == "PUT")

        var ahead = try dialogue(size: Self.large)
        let fast = fields(
            Self.large, modified: "Sat, 21 Nov 2026 12:56:30 GMT", date: "Sat, 21 Nov 2026 13:00:00 GMT")
        #expect(method(ahead.handle(answer(200, fast), now: now)) == "PUT")
    }

    /// A server may date its answer at the time of the request, however late the answer arrives.
    @Test func aSlowAnswerIsNoProof() throws {
        for (seconds, isOurs) in [(32, false), (33, true)] {
            var put = try dialogue(size: Self.large)
            // The clock of the server is an hour ahead, so only its own times count.
            let head = fields(
                Self.large, modified: "Sat, 21 Nov 2026 12:59:\(seconds) GMT", date: "Sat, 21 Nov 2026 13:00:00 GMT")
            let end = put.handle(answer(200, head), now: now + 600)
            #expect(isOurs ? result(end) != nil : method(end) == "PUT")
        }
    }

    @Test func aServerThatCannotBeAskedIsAskedAgainLater() throws {
        let error = TransferError(.connectionLost, "lost", isTransient: true)
        var put = try dialogue()
        #expect(put.handle(.failed(request: 1, error, sent: 0), now: now) == [.fail(error)])
        var other = try dialogue()
        _ = other.handle(answer(200, fields(modified: Self.atItsBegin)), now: now)
        #expect(other.handle(.failed(request: 2, error, sent: 0), now: now) == [.fail(error)])
    }

    @Test func aMissingFileIsSentByTheOriginalDialogue() throws {
        let source = UploadSource(name: "f", size: 10)
        var put = try dialogue(otherwise: FolderMakingPut(url: "http://h/a/f", source: source))
        #expect(method(put.handle(answer(404), now: now)) == "PUT")
        #expect(method(put.handle(answer(409), now: now)) == "MKCOL")
        #expect(method(put.handle(answer(201), now: now)) == "PUT")
        #expect(result(put.handle(answer(201), now: now))?.status == 201)
    }

    @Test func aStateOfAnotherProtocolIsIgnored() {
        let source = UploadSource(name: "f", size: 1)
        #expect(ConfirmingPut(url: "http://h/f", source: source, state: "{}") == nil)
        #expect(ConfirmingPut(url: "http://h/f", source: source, state: "put:x") == nil)
    }
}
