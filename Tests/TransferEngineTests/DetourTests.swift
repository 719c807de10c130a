import Testing
import TransferCore

@testable import TransferEngine

/// The detours that an exchange takes automatically: to the URL that gave the bytes, back to its own URL, and no
/// further.
@Suite struct DetourTests {
    static let own = "http://a.example/latest"
    static let place = "http://b.example/v1?sig=1"

    private func point(_ url: String? = place, takesCredentials: Bool = false) -> ResumePoint {
        ResumePoint(
            offset: 400, validator: Validator(etag: "\"a\""), total: 1000,
            place: url.map { AnsweredPlace(url: $0, takesCredentials: takesCredentials) }, placeURL: url,
            outlastsOddAnswers: true)
    }

    private func machine(_ point: ResumePoint?, method: String = "GET") -> ExchangeMachine {
        ExchangeMachine(
            ExchangeRequest(
                url: Self.own, method: method,
                headers: [HeaderField("Authorization", "secret"), HeaderField("Accept", "*/*")],
                intent: .representation(point)))
    }

    private func next(_ action: ExchangeMachine.EndAction) -> Hop? {
        if case .perform(let hop) = action { return hop }
        return nil
    }

    private func failure(_ action: ExchangeMachine.EndAction) -> TransferError? {
        if case .fail(let error) = action { return error }
        return nil
    }

    private static let part = head(206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""])

    @Test func theRecordedURLIsAskedFirstWithoutTheOwnersFields() {
        var machine = machine(point())
        let hop = machine.start()
        #expect(hop.url == Self.place && hop.headers.value("Range") == "bytes=400-" && !hop.sendsCredentials)
        #expect(hop.headers.value("Authorization") == nil && hop.headers.value("Accept") == "*/*")
        guard case .deliver(let start) = machine.received(Self.part, redirectTarget: nil, now: 0) else {
            Issue.record("the part was not taken")
            return
        }
        #expect(start.offset == 400 && !start.takesCredentials)
    }

    @Test(arguments: [true, false]) func withinAnOriginTheOwnersFieldsAreSent(_ takes: Bool) {
        var machine = machine(point("http://a.example/v1", takesCredentials: takes))
        let hop = machine.start()
        #expect(hop.url == "http://a.example/v1" && hop.sendsCredentials == takes)
        #expect((hop.headers.value("Authorization") != nil) == takes)
    }

    @Test func aQuestionWithABodyGoesToItsOwnURL() {
        var machine = machine(point(), method: "POST")
        #expect(machine.start().url == Self.own)
    }

    @Test(arguments: [400, 401, 403, 404, 405, 406, 409, 410, 451]) func aPlaceThatRefusesLeadsBack(_ status: Int)
        throws
    {
        var machine = machine(point())
        _ = machine.start()
        _ = machine.received(head(status), redirectTarget: nil, now: 0)
        let hop = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(hop.url == Self.own && hop.headers.value("Range") == "bytes=400-")
        #expect(hop.headers.value("Authorization") == "secret" && hop.sendsCredentials)
        // A refusal by the request's own URL, or by the target of a fresh redirect, ends the exchange. Some statuses do
        // so only once the whole file is refused too.
        var (asked, error): (Hop, TransferError?) = (hop, nil)
        for _ in 0..<3 where error == nil {
            _ = machine.received(head(status), redirectTarget: nil, now: 0)
            let end = machine.hopEnded(nil, position: 400)
            error = failure(end)
            if let further = next(end) { asked = further }
        }
        #expect(error?.status == status && asked.url == Self.own)
        #expect((asked.headers.value("Range") == nil) == StatusRule.mayBeOfRange(status))
    }

    /// An expired session redirects to a login page. A page at the recorded URL itself proves nothing about another
    /// URL.
    @Test(arguments: [true, false]) func aRedirectOfTheRecordedURLLeadsBack(_ isSentAway: Bool) {
        var machine = machine(point())
        _ = machine.start()
        if isSentAway {
            _ = machine.received(head(302, ["Location": "x"]), redirectTarget: "http://c.example/login", now: 0)
            #expect(next(machine.hopEnded(nil, position: 400))?.url == "http://c.example/login")
        }
        let page = head(200, ["Content-Length": "46", "Content-Type": "text/html"])
        _ = machine.received(page, redirectTarget: nil, now: 0)
        let action = machine.hopEnded(nil, position: 400)
        #expect(next(action)?.url == (isSentAway ? Self.own : nil) && (failure(action) == nil) == isSentAway)
    }

    /// The recorded URL was asked for the rest of its file. The request's own URL decides which file follows now.
    @Test(
        arguments: [
            (200, ["ETag": "\"b\"", "Content-Length": "900"]), (299, ["ETag": "\"b\""]),
            (206, ["ETag": "\"b\"", "Content-Range": "bytes 400-999/1000"]),
            (416, ["ETag": "\"b\"", "Content-Range": "bytes */300"]),
        ] as [(Int, KeyValuePairs<String, String>)]) func aPlaceWithAnotherVersionLeadsBack(
            _ status: Int, _ fields: KeyValuePairs<String, String>
        ) throws
    {
        var machine = machine(point())
        _ = machine.start()
        guard case .drop = machine.received(head(status, fields), redirectTarget: nil, now: 0) else {
            Issue.record("the place's own file was taken")
            return
        }
        let hop = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(hop.url == Self.own && hop.headers.value("Range") == "bytes=400-")
        // The target of the request's own URL is accepted, whichever version it has.
        _ = machine.received(head(302, ["Location": "x"]), redirectTarget: "http://b.example/v2", now: 0)
        _ = machine.hopEnded(nil, position: 400)
        let whole = head(200, ["Content-Length": "700", "ETag": "\"c\""])
        guard case .deliver(let start) = machine.received(whole, redirectTarget: nil, now: 0) else {
            Issue.record("the file was not taken")
            return
        }
        #expect(start.offset == 0 && start.total == 700)
    }

    @Test(arguments: [nil, "gopher://b.example/x"]) func aPlaceThatLeadsNowhereLeadsBack(_ target: String?) throws {
        var machine = machine(point())
        _ = machine.start()
        _ = machine.received(head(302, target.map { ["Location": $0] } ?? [:]), redirectTarget: target, now: 0)
        #expect(try #require(next(machine.hopEnded(nil, position: 400))).url == Self.own)
        _ = machine.received(head(302, target.map { ["Location": $0] } ?? [:]), redirectTarget: target, now: 0)
        #expect(failure(machine.hopEnded(nil, position: 400)) != nil, "its own word is the end")
    }

    @Test func aPlaceThatLeadsInACircleLeadsBackToAURLThatMayRedirect() throws {
        var machine = machine(point())
        var hop = machine.start()
        var hops = 0
        while hop.url != Self.own, hops < 100 {
            hops += 1
            _ = machine.received(
                head(302, ["Location": "x"]), redirectTarget: "http://b.example/\(hops % 2)", now: 0)
            hop = try #require(next(machine.hopEnded(nil, position: 400)))
        }
        _ = machine.received(head(302, ["Location": "x"]), redirectTarget: "http://b.example/v3", now: 0)
        #expect(next(machine.hopEnded(nil, position: 400))?.url == "http://b.example/v3")
    }

    @Test func aDeadPlaceLeadsBack() throws {
        var machine = machine(point())
        _ = machine.start()
        let dead = TransferError(.cannotConnect, "refused", isTransient: true, scope: .origin)
        #expect(next(machine.hopEnded(dead, position: 400))?.url == Self.own)
        #expect(failure(machine.hopEnded(dead, position: 400)) == dead)
    }

    @Test func aNewSignatureOfTheSameURLResumes() throws {
        var machine = machine(point())
        _ = machine.start()
        _ = machine.received(head(403), redirectTarget: nil, now: 0)
        _ = machine.hopEnded(nil, position: 400)
        _ = machine.received(head(302, ["Location": "x"]), redirectTarget: "http://b.example/v1?sig=2", now: 0)
        let hop = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(hop.url == "http://b.example/v1?sig=2" && hop.headers.value("Range") == "bytes=400-")
        guard case .deliver = machine.received(Self.part, redirectTarget: nil, now: 0) else {
            Issue.record("the part was not taken")
            return
        }
    }

    /// RFC 9110 §8.8.3: an equal tag of another URL proves nothing.
    @Test func anotherPlaceIsAskedForAllOfItsFile() throws {
        var machine = machine(point())
        _ = machine.start()
        _ = machine.received(head(404), redirectTarget: nil, now: 0)
        _ = machine.hopEnded(nil, position: 400)
        _ = machine.received(head(302, ["Location": "x"]), redirectTarget: "http://b.example/v2?sig=1", now: 0)
        _ = machine.hopEnded(nil, position: 400)
        guard case .drop = machine.received(Self.part, redirectTarget: nil, now: 0) else {
            Issue.record("another file's part was taken")
            return
        }
        let hop = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(hop.url == "http://b.example/v2?sig=1" && hop.headers.value("Range") == nil)
        let whole = head(200, ["Content-Length": "1000", "ETag": "\"a\""])
        guard case .deliver(let start) = machine.received(whole, redirectTarget: nil, now: 0) else {
            Issue.record("the file was not taken")
            return
        }
        #expect(start.offset == 0 && start.setsAside && start.restart?.contains("another URL") == true)
    }

    @Test func aRedirectsURLThatExpiresBetweenTwoPartsLeadsBack() throws {
        var machine = machine(point(nil))
        _ = machine.start()
        _ = machine.received(head(302, ["Location": "x"]), redirectTarget: Self.place, now: 0)
        _ = machine.hopEnded(nil, position: 400)
        _ = machine.received(
            head(206, ["Content-Range": "bytes 400-599/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0)
        #expect(next(machine.hopEnded(nil, position: 600))?.url == Self.place)
        _ = machine.received(head(403), redirectTarget: nil, now: 0)
        let hop = try #require(next(machine.hopEnded(nil, position: 600)))
        #expect(hop.url == Self.own && hop.headers.value("Range") == "bytes=600-")
    }

    @Test func aServerThatRefusesTheConditionIsNotAskedByItAgain() throws {
        var machine = machine(point(nil))
        _ = machine.start()
        _ = machine.received(head(200, ["ETag": "\"a\"", "Content-Length": "1000"]), redirectTarget: nil, now: 0)
        let plain = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(plain.headers.value("Range") == "bytes=400-" && plain.headers.value("If-Range") == nil)
        _ = machine.received(
            head(206, ["Content-Range": "bytes 400-599/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0)
        let rest = try #require(next(machine.hopEnded(nil, position: 600)))
        #expect(rest.headers.value("Range") == "bytes=600-" && rest.headers.value("If-Range") == nil)
    }

    /// One byte per answer, and a length that is never reached: each answer costs an attempt.
    @Test func partsOfAByteEndSoon() {
        var machine = machine(point(nil))
        _ = machine.start()
        var position: Int64 = 400
        var hops = 0
        while hops < 100 {
            hops += 1
            let part = head(206, ["Content-Range": "bytes \(position)-\(position)/1000", "ETag": "\"a\""])
            _ = machine.received(part, redirectTarget: nil, now: 0)
            position += 1
            guard case .perform = machine.hopEnded(nil, position: position) else { break }
        }
        #expect(hops <= DetourCount.limit + 1)
    }

    // MARK: Redirects

    @Test func aChoiceWithTheServersOwnIsFollowed() {
        var file = machine(nil)
        _ = file.start()
        _ = file.received(head(300, ["Location": "y"]), redirectTarget: "http://a.example/y", now: 0)
        #expect(next(file.hopEnded(nil, position: 0))?.url == "http://a.example/y")
        var none = machine(nil)
        _ = none.start()
        _ = none.received(head(300), redirectTarget: nil, now: 0)
        #expect(failure(none.hopEnded(nil, position: 0))?.status == 300)
        var message = ExchangeMachine(ExchangeRequest(url: Self.own))
        _ = message.start()
        let answer = message.received(head(300, ["Location": "y"]), redirectTarget: "http://a.example/y", now: 0)
        guard case .deliver = answer else {
            Issue.record("a message's choice is its sender's")
            return
        }
    }

    @Test func anEmptyLocationIsAnError() {
        var machine = machine(nil)
        _ = machine.start()
        _ = machine.received(head(302, ["Location": ""]), redirectTarget: Self.own, now: 0)
        #expect(failure(machine.hopEnded(nil, position: 0))?.code == .badResponse)
    }
}

@Suite struct AnsweredPlaceTests {
    @Test(
        arguments: [
            ("https://a.example/x", "https://a.example/x", true), ("https://a.example/x", "https://a.example/y", false),
            ("https://a.example/x", "https://b.example/x", false),
            ("https://a.example/x?sig=1&v=2", "https://a.example/x?v=2&sig=3", true),
            ("https://a.example/x?sig=1&v=2", "https://a.example/x?sig=1&v=3", false),
            ("https://a.example/x?X-Amz-Signature=1&X-Amz-Date=2", "https://a.example/x?X-Amz-Date=3", true),
            ("https://a.example/x?Expires=1&Signature=2&Key-Pair-Id=3", "https://a.example/x", true),
            ("https://a.example/x?key=one", "https://a.example/x?key=two", false),
            ("https://a.example/x?key=one", "https://a.example/x?key=one", false),
            ("https://a.example/x?sv=1&sig=2", "https://a.example/x?sv=3&sig=4", true),
            ("https://a.example/x?sv=1", "https://a.example/x?sv=2", false),
            ("https://u:p@a.example/x#f", "https://a.example/x", true),
        ] as [(String, String, Bool)])
    func urlsThatDifferInTheirSignatureAreEqual(_ recorded: String, _ url: String, _ isSame: Bool) {
        let place = AnsweredPlace(url: recorded, takesCredentials: true)
        #expect(place.isResource(of: url) == isSame)
        #expect(!place.url.contains("u:p") && !place.url.contains("sig=1") && !place.url.contains("key=one"))
    }

    @Test func aURLWithoutItsSecretsIsNotAsked() {
        #expect(AnsweredPlace(url: "https://a.example/x?v=1", takesCredentials: true).canBeAsked)
        #expect(!AnsweredPlace(url: "https://a.example/x?sig=1", takesCredentials: true).canBeAsked)
    }
}
