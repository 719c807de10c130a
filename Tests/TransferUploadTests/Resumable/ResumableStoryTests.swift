import Testing
import TransferCore
import TransferCrypto
import TransferTestServer
import TransferUpload

/// Whole uploads, over as many attempts as needed, against a server that follows the draft's text.
struct ResumableStoryTests {
    private typealias Fault = ResumableStory.Fault
    static let size = 20_000
    static let cuts: [Int64] = [0, 1, 2, 999, 1000, 1001, 7777, 10_000, 19_998, 19_999, 20_000]

    /// Runs the story to its end, which has to be the whole file.
    @discardableResult
    private func expectWhole(
        _ story: inout ResumableStory, sourceLocation: SourceLocation = #_sourceLocation
    ) -> UploadResult? {
        let ending = story.run()
        guard case .finished(let result) = ending else {
            Issue.record("ended with \(ending), errors \(story.errors)", sourceLocation: sourceLocation)
            return nil
        }
        let isRight = story.service.finished.last?.bytes == story.content
        #expect(isRight, "other bytes", sourceLocation: sourceLocation)
        #expect(story.service.objects.count == 1, sourceLocation: sourceLocation)
        #expect(story.sent <= Int64(story.content.count) + story.lost, sourceLocation: sourceLocation)
        #expect(story.confirmed.last == Int64(story.content.count), sourceLocation: sourceLocation)
        return result
    }

    @Test(
        arguments: [ResumableOptions.Mode.careful, .upgrade],
        [ResumableService.Dialect.version8, .version6])
    func anUndisturbedUploadIsSentOnce(mode: ResumableOptions.Mode, dialect: ResumableService.Dialect) {
        for method in ["PUT", "POST"] {
            for size in [0, 1, Self.size] {
                for refuses in [false, true] {
                    var service = ResumableService(dialect: dialect)
                    service.refusesOtherVersions = refuses
                    var story = ResumableStory(service, size: size, ResumableStory.options(mode, method: method))
                    let ending = story.run()
                    // A server that ignores other versions accepts an empty creation as an empty file.
                    let isIgnored = mode == .careful && dialect == .version6 && !refuses
                    guard case .finished = ending else {
                        Issue.record("\(ending)")
                        continue
                    }
                    let isRight = story.service.finished.last?.bytes == story.content
                    #expect(isRight)
                    #expect(story.service.finished.count == (isIgnored ? 2 : 1))
                    #expect(story.sent == Int64(size))
                    #expect(story.attempts == 1)
                }
            }
        }
    }

    @Test(arguments: [ResumableOptions.Mode.careful, .upgrade], cuts)
    func aCutUploadIsResumedWhereItWasCut(mode: ResumableOptions.Mode, after: Int64) {
        for method in ["PUT", "POST"] {
            for kills in [false, true] {
                let first = kills ? Fault.kill(after: after) : Fault.cut(after: after)
                let faults = mode == .careful ? [.none, first] : [first]
                var story = ResumableStory(
                    ResumableService(), size: Self.size, ResumableStory.options(mode, method: method), faults: faults)
                expectWhole(&story)
                #expect(story.service.finished.count == 1)
                #expect(story.sent == Int64(Self.size), "nothing twice")
                #expect(story.attempts == 2)
            }
        }
    }

    @Test(arguments: cuts)
    func onlyLostBytesAreSentAgain(after: Int64) {
        for arriving in [0, after / 3, after] {
            var story = ResumableStory(
                ResumableService(), size: Self.size, ResumableStory.options(.careful, chunkSize: 6000),
                faults: [.none, .none, .cut(after: after, arriving: arriving), .none, .none, .cut(after: 10)])
            expectWhole(&story)
            #expect(story.sent == Int64(Self.size) + story.lost)
        }
    }

    @Test func aFileCutAtEveryAttemptArrivesWithOneByteEach() {
        let faults = Array(repeating: [Fault.none, .cut(after: 1)], count: 30).flatMap { $0 }
        var story = ResumableStory(ResumableService(), size: 30, ResumableStory.options(.careful), faults: faults)
        expectWhole(&story)
        #expect(story.service.finished.count == 1)
        #expect(story.sent == 30)
    }

    @Test(arguments: [ResumableOptions.Mode.careful, .upgrade], ["PUT", "POST"])
    func aLostFinalAnswerIsAskedForAndNothingSentAgain(mode: ResumableOptions.Mode, method: String) {
        for fault in [Fault.lostAnswer, .replacedAnswer(502), .kill(after: Int64(Self.size))] {
            var story = ResumableStory(
                ResumableService(), size: Self.size, ResumableStory.options(mode, method: method),
                faults: mode == .careful ? [.none, fault] : [fault])
            let result = expectWhole(&story)
            #expect(story.service.finished.count == 1)
            #expect(story.sent == Int64(Self.size))
            #expect(result?.response == "stored\n", "the server says it again")
        }
    }

    @Test func aLostFinalAnswerOfAnUploadThatWasCleanedUpIsNeverPostedTwice() {
        var service = ResumableService()
        service.keepsCompleted = false
        for mode in [ResumableOptions.Mode.careful, .upgrade] {
            let faults: [Fault] = mode == .careful ? [.none, .lostAnswer] : [.lostAnswer]
            var post = ResumableStory(
                service, size: Self.size, ResumableStory.options(mode, method: "POST"), faults: faults)
            guard case .failed(let error) = post.run() else {
                Issue.record("not failed")
                continue
            }
            #expect(error.code == .mayHaveBeenSent)
            #expect(post.service.finished.count == 1)

            var put = ResumableStory(service, size: Self.size, ResumableStory.options(mode), faults: faults)
            expectWhole(&put)
        }
    }

    @Test func withoutAnOfferAPutIsRepeatedAndAPostIsNot() {
        let plain = Self.cuts.map { (ResumableService.Dialect.none, Fault.cut(after: $0)) }
        for (dialect, fault) in plain + [(.none, .lostAnswer), (.version8, .lostInterimAndAnswer)] {
            let service = ResumableService(dialect: dialect)
            var put = ResumableStory(service, size: Self.size, ResumableStory.options(.upgrade), faults: [fault])
            expectWhole(&put)
            #expect(put.attempts == 2)

            var post = ResumableStory(
                service, size: Self.size, ResumableStory.options(.upgrade, method: "POST"), faults: [fault])
            if fault == .cut(after: 0) {
                expectWhole(&post)
                continue
            }
            guard case .failed(let error) = post.run() else {
                Issue.record("not failed after \(fault)")
                continue
            }
            #expect(error.code == .mayHaveBeenSent)
            #expect(post.attempts == 1)
        }
    }

    @Test func aCreationWhoseAnswerIsLostIsBegunAnewWithoutHarm() {
        for fault in [Fault.lostAnswer, .lostInterimAndAnswer, .kill(after: 0)] {
            var story = ResumableStory(
                ResumableService(), size: Self.size, ResumableStory.options(.careful, method: "POST"), faults: [fault])
            expectWhole(&story)
            #expect(story.service.finished.count == 1)
            #expect(story.sent == Int64(Self.size))
        }
    }

    @Test(arguments: [500, 502, 503, 504, 429])
    func errorsBetweenPartsPass(status: Int) {
        for index in 0..<6 {
            var faults = Array(repeating: Fault.none, count: index)
            faults.append(.status(status))
            var story = ResumableStory(
                ResumableService(), size: Self.size, ResumableStory.options(.careful, method: "POST", chunkSize: 6000),
                faults: faults)
            expectWhole(&story)
            #expect(story.service.finished.count == 1)
            #expect(story.sent == Int64(Self.size), "error at request \(index)")
        }
    }

    @Test(arguments: [Fault.forgotten, .expired])
    func anUploadThatEndsAtAnyRequestIsBegunAnew(fault: ResumableStory.Fault) {
        for index in 0..<6 {
            for method in ["PUT", "POST"] {
                let service = ResumableService(limits: .init(lifetime: 3600))
                var story = ResumableStory(
                    service, size: Self.size, ResumableStory.options(.careful, method: method, chunkSize: 6000),
                    faults: Array(repeating: .none, count: index) + [fault])
                expectWhole(&story)
                #expect(story.service.finished.count == 1)
                // Request 0 creates the upload. The last request follows requests 1, 2, 3 and 4, which have content.
                #expect(story.restarts.count == ((1...4).contains(index) ? 1 : 0))
            }
        }
    }

    @Test func anUploadThatExpiredBetweenAttemptsIsBegunAnewWithoutAsking() {
        var story = ResumableStory(
            ResumableService(limits: .init(lifetime: 3600)), size: Self.size, ResumableStory.options(.careful),
            faults: [.none, .cut(after: 5000)])
        #expect(story.attempt() != .killed)
        story.service.now += 4000
        expectWhole(&story)
        #expect(!story.service.requests.contains { $0.method == "HEAD" })
        #expect(story.restarts.count == 1)
    }

    @Test(arguments: [
        ResumableService.Limits(maxAppendSize: 3000), .init(minAppendSize: 7000),
        .init(maxAppendSize: 4096, minAppendSize: 4096), .init(maxSize: 20_000, minSize: 20_000),
        .init(minSize: 20_001), .init(maxAppendSize: 19_999, lifetime: 100_000),
    ])
    func theServersLimitsAreKept(limits: ResumableService.Limits) {
        for mode in [ResumableOptions.Mode.careful, .upgrade] {
            for refusesLong in [false, true] {
                var service = ResumableService(limits: limits)
                service.refusesLongCreation = refusesLong
                var story = ResumableStory(
                    service, size: Self.size, ResumableStory.options(mode, method: "POST", chunkSize: 5000))
                expectWhole(&story)
                #expect(story.service.finished.count == 1)
                #expect(story.attempts == 1)
            }
        }
    }

    @Test func aFileOverTheLargestSizeIsRefusedWithoutSendingIt() {
        for mode in [ResumableOptions.Mode.careful, .upgrade] {
            var story = ResumableStory(
                ResumableService(limits: .init(maxSize: 19_999)), size: Self.size, ResumableStory.options(mode))
            guard case .failed(let error) = story.run() else {
                Issue.record("not failed")
                continue
            }
            #expect(!error.isTransient)
            #expect(story.sent == 0)
            #expect(story.service.unfinished == 0)
        }
    }

    @Test func progressIsConfirmedWhileTheBytesGo() {
        var service = ResumableService()
        service.progressInterval = 4000
        for mode in [ResumableOptions.Mode.careful, .upgrade] {
            var story = ResumableStory(service, size: Self.size, ResumableStory.options(mode))
            expectWhole(&story)
            #expect(story.confirmed.filter { $0 > 0 } == [4000, 8000, 12_000, 16_000, 20_000, 20_000])
        }
    }

    @Test func aServerThatSendsNo104IsResumedCarefully() {
        var service = ResumableService()
        service.sendsInterim = false
        service.marksAnswers = false
        var story = ResumableStory(
            service, size: Self.size, ResumableStory.options(.careful, method: "POST", chunkSize: 8000),
            faults: [.none, .none, .none, .cut(after: 500), .none, .none, .lostAnswer])
        expectWhole(&story)
        #expect(story.service.finished.count == 1)
        #expect(story.sent == Int64(Self.size))
    }

    @Test func theTargetsRefusalIsReportedAndNotTakenForSuccessLater() {
        for mode in [ResumableOptions.Mode.careful, .upgrade] {
            var service = ResumableService()
            service.targetError = 422
            var story = ResumableStory(service, size: Self.size, ResumableStory.options(mode))
            guard case .failed(let error) = story.run() else {
                Issue.record("not failed")
                continue
            }
            #expect(error.status == 422)
            story.service.targetError = nil
            expectWhole(&story)
            #expect(story.service.finished.count == 1)
        }
    }

    /// HEAD reports such an upload as complete, like one that was accepted.
    @Test(arguments: [ResumableOptions.Mode.careful, .upgrade])
    func theTargetsRefusalIsNoSuccessEitherWhereItWasLost(mode: ResumableOptions.Mode) {
        for fault in [ResumableStory.Fault.lostAnswer, .replacedAnswer(502)] {
            var service = ResumableService()
            service.targetError = 422
            var story = ResumableStory(
                service, size: Self.size, ResumableStory.options(mode),
                faults: mode == .careful ? [.none, fault] : [fault])
            guard case .failed(let error) = story.run() else {
                Issue.record("\(fault): not failed")
                continue
            }
            #expect(error.status == 422)
            #expect(story.attempts == 2)
            #expect(story.sent == Int64(Self.size), "it is asked about, and not sent again")
        }
    }

    @Test func theServersDigestComesWithTheResult() throws {
        var story = ResumableStory(
            ResumableService(), size: 3, ResumableStory.options(.careful, wantsDigest: true),
            faults: [.none, .cut(after: 1)])
        let result = expectWhole(&story)
        let digest = try Digest(.sha256)
        story.content.withUnsafeBytes { digest.update($0) }
        let expected = try digest.finish()
        #expect(result?.digest == expected)
    }

    @Test func aServerThatHasMoreThanTheSourceIsBegunAnew() {
        var story = ResumableStory(
            ResumableService(), size: Self.size, ResumableStory.options(.careful), faults: [.none, .cut(after: 9)])
        _ = story.attempt()
        story.service.setBytes([UInt8](repeating: 0, count: Self.size + 1), of: "/uploads/u1")
        expectWhole(&story)
        #expect(story.restarts.count == 1)
        #expect(story.service.unfinished == 0, "the old one was removed")
    }

    /// Any faults in any order: the story ends with the right bytes, delivered once.
    @Test(arguments: 0..<500)
    func everyStoryEndsWithOneRightFileOrAnHonestFailure(seed: UInt64) {
        var random = Dice(state: seed)
        let dialects: [ResumableService.Dialect] = [.version8, .version8, .version6, .none]
        let mode: ResumableOptions.Mode = random.roll(2) == 0 ? .careful : .upgrade
        // Only a client that knows the server's support begins carefully.
        let dialect = dialects[random.roll(mode == .careful ? 3 : 4)]
        var service = ResumableService(dialect: dialect)
        service.refusesOtherVersions = dialect == .version6 && (mode == .careful || random.roll(2) == 0)
        service.keepsCompleted = random.roll(4) > 0
        service.marksAnswers = random.roll(4) > 0
        service.sendsInterim = random.roll(5) > 0
        service.progressInterval = random.roll(2) == 0 ? nil : 3000
        if random.roll(3) == 0 { service.limits.maxAppendSize = 2500 + random.roll(9000) }
        if random.roll(3) == 0 { service.limits.minAppendSize = 1 + random.roll(2500) }
        if random.roll(3) == 0 { service.limits.lifetime = Int64(1 + random.roll(100)) }
        service.refusesLongCreation = random.roll(2) == 0
        let method = random.roll(2) == 0 ? "PUT" : "POST"
        let size = [0, 1, 5000, 20_000][random.roll(4)]
        // A 503 says that the request had no effect. If that is wrong, a plain POST is repeated.
        let mayBeMisled = mode == .careful || method == "PUT"
        // An upload without any mark of the protocol cannot be distinguished from a file if it vanishes at once.
        let isMarked = service.marksAnswers || service.sendsInterim
        let faults = (0..<random.roll(14)).map { _ -> Fault in
            let after = Int64(random.roll(size + 2))
            return switch random.roll(11) {
            case 0: .cut(after: after)
            case 1: .cut(after: after, arriving: after / 2)
            case 2: .kill(after: after)
            case 3: .lostAnswer
            case 4: .lostInterimAndAnswer
            case 5: .status([429, 500, 502, 503, 504][random.roll(5)])
            case 6: .replacedAnswer(mayBeMisled ? 503 : [502, 504][random.roll(2)])
            case 7: isMarked ? .forgotten : .none
            case 8: .refusedConnection
            default: .none
            }
        }
        let chunkSize: Int64? = random.roll(2) == 0 ? nil : Int64(1000 + random.roll(8000))
        var story = ResumableStory(
            service, size: size, ResumableStory.options(mode, method: method, chunkSize: chunkSize), faults: faults)
        let ending = story.run()
        let setting = Comment("\(mode) \(method) \(dialect) \(size) \(faults) \(story.errors)")
        // A process that was killed in a plain POST leaves the decision to its owner, who knows that the POST was
        // running.
        let ownersCase =
            method == "POST" && mode == .upgrade && faults.contains { if case .kill = $0 { true } else { false } }
        if method == "POST", !ownersCase { #expect(story.service.finished.count <= 1, setting) }
        switch ending {
        case .finished:
            let isRight = story.service.finished.last?.bytes == story.content
            #expect(isRight, setting)
            if method == "PUT" || !ownersCase { #expect(story.service.objects.count == 1, setting) }
            #expect(story.sent <= Int64(size) + story.lost, setting)
        case .failed(let error):
            #expect(method == "POST", setting)
            #expect(error.code == .mayHaveBeenSent || [500, 502, 504].contains(error.status), setting)
        case .killed, .endless:
            Issue.record(setting)
        }
    }
}

/// SplitMix64, so that a seed always gives the same story.
private struct Dice {
    var state: UInt64

    mutating func roll(_ sides: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(sides))
    }
}
