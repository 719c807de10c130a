import Testing
import TransferCore

@testable import TransferEngine

@Suite struct ExchangeMachineTests {
    static let url = "http://a.example/x"
    static let point = ResumePoint(offset: 400, validator: Validator(etag: "\"a\""), total: 1000)

    private func machine(_ point: ResumePoint? = nil, method: String = "GET", body: RequestBody = .none)
        -> ExchangeMachine
    {
        ExchangeMachine(ExchangeRequest(url: Self.url, method: method, body: body, intent: .representation(point)))
    }

    private func begin(_ action: ExchangeMachine.HeadAction) -> BodyStart? {
        if case .deliver(let start) = action { return start }
        return nil
    }

    private func failure(_ action: ExchangeMachine.EndAction) -> TransferError? {
        if case .fail(let error) = action { return error }
        return nil
    }

    private func next(_ action: ExchangeMachine.EndAction) -> Hop? {
        if case .perform(let hop) = action { return hop }
        return nil
    }

    private func isSuccess(_ action: ExchangeMachine.EndAction) -> Bool {
        if case .succeed = action { return true }
        return false
    }

    @Test func aPlainDownloadEndsWithItsBody() throws {
        var machine = machine()
        let hop = machine.start()
        #expect(hop.headers == [HeaderField("Accept-Encoding", "identity")])
        let start = try #require(
            begin(machine.received(head(200, ["Content-Length": "10"]), redirectTarget: nil, now: 0)))
        #expect(start.offset == 0 && start.total == 10 && start.restart == nil)
        #expect(isSuccess(machine.hopEnded(nil, position: 10)))
    }

    @Test func aDownloadResumesByRangeAndCondition() throws {
        var machine = machine(Self.point)
        let hop = machine.start()
        #expect(hop.headers.value("Range") == "bytes=400-" && hop.headers.value("If-Range") == "\"a\"")
        let action = machine.received(
            head(206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0)
        let start = try #require(begin(action))
        #expect(start.offset == 400 && start.total == 1000)
        #expect(isSuccess(machine.hopEnded(nil, position: 1000)))
    }

    @Test func withoutAStrongValidatorItStartsAgainAndSaysWhy() {
        var machine = machine(ResumePoint(offset: 400, validator: Validator(etag: "W/\"a\""), total: nil))
        let hop = machine.start()
        #expect(hop.headers.value("Range") == nil && hop.headers.value("If-Range") == nil)
        let start = begin(machine.received(head(200, ["ETag": "W/\"a\""]), redirectTarget: nil, now: 0))
        #expect(start?.restart?.contains("weak") == true)
    }

    @Test func aCallersRangeIsNotLeftInAFreshDownload() {
        var request = ExchangeRequest(
            url: Self.url, headers: [HeaderField("range", "bytes=5-")], intent: .representation(nil))
        request.headers.append(HeaderField("X", "1"))
        var machine = ExchangeMachine(request)
        #expect(machine.start().headers.map(\.name) == ["X", "Accept-Encoding"])
    }

    @Test func aFullAnswerReplacesThePartialFile() throws {
        var machine = machine(Self.point)
        _ = machine.start()
        let start = try #require(
            begin(machine.received(head(200, ["ETag": "\"b\"", "Content-Length": "7"]), redirectTarget: nil, now: 0)))
        #expect(start.offset == 0 && start.total == 7 && start.restart?.contains("a→b") == true)
        #expect(isSuccess(machine.hopEnded(nil, position: 7)))
    }

    @Test func aRangeThatDoesNotFitIsAskedForAgainWhole() throws {
        var machine = machine(Self.point)
        _ = machine.start()
        #expect(
            begin(
                machine.received(
                    head(206, ["Content-Range": "bytes 0-99/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0))
                == nil)
        let hop = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(hop.headers.value("Range") == nil && hop.headers.value("If-Range") == nil)
        let start = begin(machine.received(head(200, ["Content-Length": "5"]), redirectTarget: nil, now: 0))
        #expect(start?.offset == 0 && start?.restart?.contains("from 0") == true)
        #expect(isSuccess(machine.hopEnded(nil, position: 5)))
    }

    @Test func anUnsolicited206Fails() {
        var machine = machine()
        _ = machine.start()
        #expect(
            begin(machine.received(head(206, ["Content-Range": "bytes 0-8/10"]), redirectTarget: nil, now: 0)) == nil)
        #expect(failure(machine.hopEnded(nil, position: 0))?.code == .badResponse)
    }

    @Test func aServerThatNeverServesEndsSomewhere() {
        // Any sequence of answers ends after a finite number of hops.
        let answers = [
            head(206, ["Content-Range": "bytes 0-9/10"]), head(416), head(206), head(200, ["Content-Length": "1"]),
            head(302),
            head(206, ["Content-Range": "bytes 400-499/1000", "ETag": "\"a\""]), head(404), head(503),
        ]
        for answer in answers {
            var machine = machine(Self.point)
            _ = machine.start()
            var hops = 0
            var isOver = false
            while !isOver, hops < 100 {
                hops += 1
                _ = machine.received(answer, redirectTarget: "http://a.example/y", now: 0)
                if case .perform = machine.hopEnded(nil, position: 400) { isOver = false } else { isOver = true }
            }
            #expect(hops <= 11, "\(answer.status) led to \(hops) hops")
        }
    }

    @Test func aShortPartIsContinued() throws {
        var machine = machine(Self.point)
        _ = machine.start()
        let part = head(206, ["Content-Range": "bytes 400-599/1000", "ETag": "\"a\""])
        #expect(begin(machine.received(part, redirectTarget: nil, now: 0))?.total == 1000)
        let hop = try #require(next(machine.hopEnded(nil, position: 600)))
        #expect(hop.headers.value("Range") == "bytes=600-" && hop.headers.value("If-Range") == "\"a\"")
        #expect(
            begin(
                machine.received(
                    head(206, ["Content-Range": "bytes 600-999/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0))?
                .offset == 600)
        #expect(isSuccess(machine.hopEnded(nil, position: 1000)))
    }

    @Test func aPartThatLeavesOutItsDateIsRequestedAgainWithoutTheCondition() throws {
        // RFC 9110 §15.3.7: a 206 to an If-Range need not repeat Last-Modified.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let validator = Validator(lastModified: date, isDateStrong: true)
        var machine = machine(ResumePoint(offset: 400, validator: validator, total: 1000))
        #expect(machine.start().headers.value("If-Range") == date)
        let unnamed = head(206, ["Content-Range": "bytes 400-999/1000"])
        #expect(begin(machine.received(unnamed, redirectTarget: nil, now: 0)) == nil)
        let plain = try #require(next(machine.hopEnded(nil, position: 400)))
        #expect(plain.headers.value("Range") == "bytes=400-" && plain.headers.value("If-Range") == nil)
        let named = head(206, ["Content-Range": "bytes 400-599/1000", "Last-Modified": date])
        #expect(begin(machine.received(named, redirectTarget: nil, now: 0))?.offset == 400)
        // The condition would be answered in the same way again.
        let rest = try #require(next(machine.hopEnded(nil, position: 600)))
        #expect(rest.headers.value("Range") == "bytes=600-" && rest.headers.value("If-Range") == nil)
    }

    @Test(arguments: [false, true])
    func aPartThatTurnsOutToBeOfAnotherDateIsNotWritten(_ isPart: Bool) throws {
        let validator = Validator(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", isDateStrong: true)
        var point = ResumePoint(offset: 400, validator: validator, total: 1000)
        (point.isPart, point.end) = (isPart, isPart ? 1000 : nil)
        var machine = machine(point)
        _ = machine.start()
        _ = machine.received(head(206, ["Content-Range": "bytes 400-999/1000"]), redirectTarget: nil, now: 0)
        _ = try #require(next(machine.hopEnded(nil, position: 400)))
        let other = head(
            206, ["Content-Range": "bytes 400-999/1000", "Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"])
        #expect(begin(machine.received(other, redirectTarget: nil, now: 0)) == nil)
        let end = machine.hopEnded(nil, position: 400)
        if isPart {
            #expect(failure(end)?.message.contains("Last-Modified") == true)
        } else {
            #expect(next(end)?.headers.value("Range") == nil)
        }
    }

    @Test func aPartThatBroughtNothingFails() {
        var machine = machine(Self.point)
        _ = machine.start()
        _ = machine.received(
            head(206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0)
        let error = failure(machine.hopEnded(nil, position: 400))
        #expect(error?.code == .connectionLost && error?.isTransient == true)
    }

    @Test func moreBytesThanTheFileHasFail() {
        var machine = machine(Self.point)
        _ = machine.start()
        _ = machine.received(
            head(206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0)
        #expect(failure(machine.hopEnded(nil, position: 1001))?.code == .badResponse)
    }

    @Test func aCompleteFileIsConfirmed() {
        var machine = machine(ResumePoint(offset: 1000, validator: Validator(etag: "\"a\""), total: 1000))
        _ = machine.start()
        #expect(
            begin(
                machine.received(
                    head(416, ["Content-Range": "bytes */1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0)) == nil)
        #expect(isSuccess(machine.hopEnded(nil, position: 1000)))
    }

    @Test(arguments: [204, 304, 400, 404, 416, 500, 503])
    func anythingButTheFileIsAFailure(_ status: Int) {
        var machine = machine()
        _ = machine.start()
        #expect(begin(machine.received(head(status), redirectTarget: nil, now: 0)) == nil)
        #expect(failure(machine.hopEnded(nil, position: 0))?.status == status)
    }

    @Test(arguments: [200, 204, 206, 304, 404, 416, 503])
    func aMessageIsDeliveredWhateverItsStatus(_ status: Int) {
        var machine = ExchangeMachine(ExchangeRequest(url: Self.url))
        let hop = machine.start()
        #expect(hop.headers.isEmpty)
        #expect(begin(machine.received(head(status), redirectTarget: nil, now: 0))?.head.status == status)
        #expect(isSuccess(machine.hopEnded(nil, position: 0)))
    }

    @Test func redirectsAreFollowedToTheEnd() throws {
        var machine = machine(Self.point)
        _ = machine.start()
        for number in 1...10 {
            #expect(
                begin(
                    machine.received(head(302, ["Location": "y"]), redirectTarget: "http://a.example/\(number)", now: 0)
                ) == nil)
            let hop = try #require(next(machine.hopEnded(nil, position: 400)))
            #expect(hop.url == "http://a.example/\(number)" && hop.headers.value("Range") == "bytes=400-")
        }
        _ = machine.received(head(302, ["Location": "y"]), redirectTarget: "http://a.example/11", now: 0)
        #expect(failure(machine.hopEnded(nil, position: 400))?.code == .tooManyRedirects)
    }

    @Test func aRedirectWithoutAPlaceIsAnAnswerOrAFailure() {
        var message = ExchangeMachine(ExchangeRequest(url: Self.url))
        _ = message.start()
        #expect(begin(message.received(head(302), redirectTarget: nil, now: 0))?.head.status == 302)
        var file = machine()
        _ = file.start()
        _ = file.received(head(302), redirectTarget: nil, now: 0)
        #expect(failure(file.hopEnded(nil, position: 0))?.code == .badResponse)
    }

    @Test func aSecondHeadAfterAuthenticationCounts() throws {
        // libcurl answers a 401 automatically, and the file follows in the same hop.
        var machine = machine()
        _ = machine.start()
        #expect(begin(machine.received(head(401), redirectTarget: nil, now: 0)) == nil)
        #expect(begin(machine.received(head(200, ["Content-Length": "3"]), redirectTarget: nil, now: 0))?.total == 3)
        #expect(isSuccess(machine.hopEnded(nil, position: 3)))
        var resumed = self.machine(Self.point)
        _ = resumed.start()
        _ = resumed.received(head(401), redirectTarget: nil, now: 0)
        #expect(
            begin(
                resumed.received(
                    head(206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""]), redirectTarget: nil, now: 0))?
                .offset == 400)
    }

    @Test func aFailureOfTheHopWinsWhileTheBodyComes() {
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        var machine = machine()
        _ = machine.start()
        #expect(failure(machine.hopEnded(lost, position: 0)) == lost)
        var other = self.machine()
        _ = other.start()
        _ = other.received(head(200, ["Content-Length": "9"]), redirectTarget: nil, now: 0)
        #expect(failure(other.hopEnded(lost, position: 5)) == lost)
    }

    @Test func anEndWithoutAnAnswerIsAFailure() {
        var machine = machine()
        _ = machine.start()
        #expect(failure(machine.hopEnded(nil, position: 0))?.isTransient == true)
        #expect(failure(machine.hopEnded(nil, position: 0)) != nil, "and so is one after the end")
    }

    /// The file is saved in its coded form, and ranges count in that form (RFC 9110 §14.2).
    @Test func aCodedFileHasTheLengthOfItsCodedForm() throws {
        var machine = machine()
        _ = machine.start()
        let fields = head(200, ["Content-Length": "9", "Content-Encoding": "gzip"])
        let start = try #require(begin(machine.received(fields, redirectTarget: nil, now: 0)))
        #expect(start.total == 9 && start.isContinuable)
        #expect(isSuccess(machine.hopEnded(nil, position: 9)))
        var message = ExchangeMachine(ExchangeRequest(url: Self.url))
        _ = message.start()
        let other = try #require(begin(message.received(fields, redirectTarget: nil, now: 0)))
        #expect(other.total == nil && !other.isContinuable && other.isCoded)
    }
}
