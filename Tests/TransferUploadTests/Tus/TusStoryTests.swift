import Testing
import TransferCore
import TransferTestServer
import TransferUpload

/// Whole uploads, with one fault at each possible place, and with many faults.
@Suite struct TusStoryTests {
    private typealias Story = DialogueStory<TusService>
    private let content = Content.random(seed: 6, count: 60).bytes()

    private func story(
        _ options: TusOptions, _ faults: [Int: StoryFault<TusService>] = [:], service: TusService = TusService(),
        content: [UInt8]? = nil
    ) -> Story {
        Story(service, content ?? self.content, faults: faults) { source, state in
            TusDialogue(url: "http://server.test/files", source: source, options: options, state: state)
        }
    }

    /// Expects exactly one object with the right bytes, and no more sent bytes than the lost ones.
    private func expectWhole(_ story: Story, _ outcome: StoryOutcome, _ what: String) {
        // The upload vanished after its last bytes: its fate is unknown, and no second object is made.
        if outcome.error?.code == .mayHaveBeenSent { return #expect(story.service.finished.count <= 1, "\(what)") }
        #expect(outcome.error == nil, "\(what): \(outcome.log)")
        #expect(outcome.result != nil, "\(what): \(outcome.log)")
        #expect(story.service.finished.map(\.bytes) == [story.content], "\(what): \(outcome.log)")
        #expect(story.service.finished.first?.metadata["filename"] == "film.mp4")
        let url = story.service.finished.first.map { "http://server.test/files/\($0.id)" }
        #expect(outcome.result?.url == url, "\(what)")
        #expect(outcome.sent == story.service.received)
        #expect(outcome.sent <= Int64(story.content.count) + outcome.lost, "\(what): \(outcome.log)")
        #expect(outcome.confirmed.last ?? 0 == Int64(story.content.count), "\(what)")
    }

    /// Returns the number of requests without any fault.
    private func requests(_ options: TusOptions) throws -> Int {
        var story = story(options)
        let outcome = try story.run()
        expectWhole(story, outcome, "no fault")
        #expect(outcome.attempts == 1)
        #expect(outcome.sent == Int64(content.count))
        return outcome.requests
    }

    private static let ways = [
        TusOptions(), TusOptions(chunkSize: 16), TusOptions(chunkSize: 16, checksum: .sha1),
        TusOptions(chunkSize: 60, checksum: .md5), TusOptions(chunkSize: 16, createsWithBody: true),
    ]

    @Test(arguments: ways)
    func everyUploadSurvivesACutOrADeathAfterEachByteOfEachRequest(_ options: TusOptions) throws {
        for number in 1...(try requests(options)) {
            // A cut beyond the end of a body has no effect.
            for count in 0...(options.chunkSize.map(Int.init) ?? content.count) {
                for isKill in [false, true] {
                    var story = story(options, [number: isKill ? .kill(after: count) : .cut(after: count)])
                    let outcome = try story.run()
                    let what = "request \(number) \(isKill ? "killed" : "cut") after \(count) bytes"
                    expectWhole(story, outcome, what)
                    #expect(outcome.attempts == 2, "\(what)")
                    if options.checksum == nil, !options.createsWithBody {
                        #expect(outcome.sent == Int64(content.count), "\(what): what arrived is never sent again")
                    }
                }
            }
        }
    }

    @Test(arguments: ways)
    func everyUploadSurvivesARequestThatIsRefusedOrNeverArrives(_ options: TusOptions) throws {
        for number in 1...(try requests(options)) {
            for fault in [.status(500), .status(503), .neverArrives, .lostAnswer, .killedBefore]
                as [StoryFault<TusService>]
            {
                var story = story(options, [number: fault])
                let outcome = try story.run()
                expectWhole(story, outcome, "request \(number): \(fault)")
                #expect(outcome.attempts == 2)
            }
        }
    }

    @Test(arguments: ways, [true, false])
    func anUploadThatIsGoneAtAnyMomentIsMadeAnew(_ options: TusOptions, _ isRemembered: Bool) throws {
        for number in 1...(try requests(options)) {
            for count in [0, 1, 30] {
                // The upload is cut and gone at the next question, or it vanishes during an attempt.
                for faults in [[number: forgetting], [number: .cut(after: count), number + 1: forgetting]] {
                    var service = TusService()
                    service.remembersGone = isRemembered
                    var story = story(options, faults, service: service)
                    let outcome = try story.run()
                    expectWhole(story, outcome, "forgotten before request \(number), cut after \(count)")
                }
            }
        }
    }

    private var forgetting: StoryFault<TusService> {
        .happens { service in
            // A finished object stays: its later removal is no matter of the upload.
            let lost = service.uploads.filter { !$0.isComplete || $0.kind == .partial }
            for upload in lost { service.forget(upload.id) }
            return lost.reduce(0) { $0 + $1.offset }
        }
    }

    /// All bytes that arrive are lost, also those of bodies under way.
    private var forgettingAll: StoryFault<TusService> {
        .happens { service in
            for upload in service.uploads where upload.kind == .partial { service.forget(upload.id) }
            return 60
        }
    }

    @Test func anUploadThatExpiresBetweenAttemptsIsMadeAnew() throws {
        var service = TusService()
        service.lifetime = 3600
        let late: StoryFault<TusService> = .happens { service in
            service.now += 3601
            return 25
        }
        var story = story(TusOptions(), [2: .cut(after: 25), 3: late], service: service)
        story.now += 3601
        let outcome = try story.run()
        expectWhole(story, outcome, "expired")
        #expect(outcome.sent == 85)
        #expect(outcome.restarts.first?.contains("410") == true)
        #expect(outcome.restarts.first?.contains("it expired on") == true)
    }

    @Test func bytesLostByTheServerAreSentAgain() throws {
        for kept in [0, 1, 10, 39] as [Int64] {
            let loss: StoryFault<TusService> = .happens { service in
                service.lose("u1", after: kept)
                return 40 - kept
            }
            var story = story(TusOptions(), [2: .cut(after: 40), 3: loss], service: TusService())
            let outcome = try story.run()
            expectWhole(story, outcome, "lost after \(kept)")
            #expect(outcome.confirmed.first == kept)
            #expect(outcome.sent == 100 - kept)
        }
    }

    @Test func aLockThatAnOldConnectionHoldsIsWaitedOutByAttempts() throws {
        var service = TusService()
        // Another client's body is under way to the upload that this one creates.
        let lock: StoryFault<TusService> = .happens { service in
            let headers: HeaderFields = [
                "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0",
                "Content-Length": "60",
            ]
            _ = service.begin(900, method: "PATCH", target: "/files/u1", headers: headers)
            return 0
        }
        let unlock: StoryFault<TusService> = .happens { service in
            _ = service.end(900, isWhole: false)
            return 0
        }
        service.lifetime = nil
        var story = story(TusOptions(), [2: lock, 6: unlock], service: service)
        let outcome = try story.run()
        expectWhole(story, outcome, "locked")
        #expect(
            outcome.log
                == ["POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"].map {
                    $0 + " http://server.test/files" + ($0 == "POST" ? "" : "/u1")
                })
    }

    @Test(arguments: [TusOptions(), TusOptions(chunkSize: 7), TusOptions(chunkSize: 16, checksum: .sha1)])
    func anUploadWithManyFaultsEndsWithOneObject(_ options: TusOptions) throws {
        for seed in 0..<150 as Range<UInt64> {
            var random = StoryDice(seed: seed)
            var faults: [Int: StoryFault<TusService>] = [:]
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                let fault: StoryFault<TusService> =
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: .lostAnswer
                    case 1: .status([500, 502, 503, 504].randomElement(using: &random) ?? 500)
                    case 2: .neverArrives
                    case 3: .killedBefore
                    case 4: .kill(after: Int.random(in: 0...60, using: &random))
                    case 5: forgetting
                    default: .cut(after: Int.random(in: 0...60, using: &random))
                    }
                faults[Int.random(in: 1...14, using: &random)] = fault
            }
            var story = story(options, faults)
            let outcome = try story.run()
            expectWhole(story, outcome, "seed \(seed)")
        }
    }

    // MARK: - In parts

    private static let parts = TusOptions(parallel: 3, minimumPartSize: 1)

    @Test func partsAreSentTogetherAndJoinedAtTheServer() throws {
        var story = story(Self.parts)
        let outcome = try story.run()
        expectWhole(story, outcome, "no fault")
        #expect(outcome.requests == 9)
        #expect(story.service.uploads.count == 1, "this server removes what it has joined")
    }

    @Test(
        arguments: [true, false],
        [
            TusOptions(parallel: 3, minimumPartSize: 1),
            TusOptions(chunkSize: 8, checksum: .sha1, parallel: 3, minimumPartSize: 1),
        ])
    func partsSurviveFaultsAtEachRequestAndAreNeverJoinedTwice(_ removesParts: Bool, _ options: TusOptions) throws {
        let count = try requests(options)
        for number in 1...count {
            var faults: [StoryFault<TusService>] = [
                .status(500), .status(502), .neverArrives, .lostAnswer, .killedBefore, forgettingAll,
            ]
            faults += [0, 1, 7, 8, 19, 20].flatMap { [.cut(after: $0), .kill(after: $0)] }
            for fault in faults {
                var service = TusService()
                service.removesJoinedParts = removesParts
                var story = story(options, [number: fault], service: service)
                let outcome = try story.run()
                let isJoining = number == count - 1
                let what = "request \(number): \(fault), \(outcome.log)"
                #expect(story.service.finished.count <= 1, "\(what)")
                if isJoining, fault.isAmbiguous {
                    #expect(outcome.error?.code == .mayHaveBeenSent, "\(what)")
                } else {
                    expectWhole(story, outcome, what)
                }
            }
        }
    }

    @Test func possiblyJoinedPartsAreJoinedOnAnExplicitRetry() throws {
        var story = story(Self.parts, [8: .killedBefore])
        let first = try story.run()
        #expect(first.error?.code == .mayHaveBeenSent)
        #expect(story.service.finished.isEmpty)
        story.faults = [:]
        let second = try story.run()
        #expect(second.sent == 0, "no part is sent again")
        #expect(second.result != nil)
        #expect(story.service.finished.map(\.bytes) == [content])
    }

    // MARK: - Requests that may complete an upload unheard

    @Test func aCreationThatCarriesTheWholeFileNeverMakesTwo() throws {
        let options = TusOptions(createsWithBody: true)
        #expect(try requests(options) == 2)
        for count in 0...60 {
            for fault in [.cut(after: count), .kill(after: count)] as [StoryFault<TusService>] {
                var story = story(options, [2: fault])
                let outcome = try story.run()
                #expect(story.service.finished.count <= 1)
                if case .cut(after: 0..<60) = fault {
                    expectWhole(story, outcome, "cut after \(count)")
                } else {
                    #expect(outcome.error?.code == .mayHaveBeenSent)
                }
            }
        }
    }

    @Test func anEmptyFileIsMadeOnce() throws {
        var clean = story(TusOptions(), content: [])
        let outcome = try clean.run()
        #expect(outcome.result != nil)
        #expect(outcome.sent == 0)
        #expect(clean.service.finished.map(\.bytes) == [[]])

        for fault in [.lostAnswer, .kill(after: 0), .status(500), .neverArrives] as [StoryFault<TusService>] {
            var story = story(TusOptions(), [1: fault], content: [])
            let outcome = try story.run()
            #expect(story.service.finished.count == 1)
            #expect((outcome.error?.code == .mayHaveBeenSent) == fault.isAmbiguous)
        }
    }

    // MARK: - Given up

    @Test(arguments: [TusOptions(), TusOptions(parallel: 3, minimumPartSize: 1)])
    func anUploadThatIsGivenUpLeavesNothing(_ options: TusOptions) throws {
        for number in 1...8 {
            var story = story(options, [number: .kill(after: 10)])
            story.attemptLimit = 1
            let first = try story.run()
            // The URL of a creation without an answer is unknown.
            let orphans = first.log.dropFirst(number - 1).first?.hasPrefix("POST") == true ? 1 : 0
            story.faults = [:]
            let outcome = try story.abandon()
            #expect(outcome.error == nil)
            #expect(outcome.result != nil)
            #expect(story.service.uploads.count == orphans, "killed at request \(number)")
        }
    }
}

extension StoryFault {
    /// Whether the fate of the request is unknowable.
    fileprivate var isAmbiguous: Bool {
        switch self {
        case .cut, .kill, .lostAnswer, .gateway, .killedBefore: true
        case .status(let status): DeliveryRule.leavesOpen(status)
        case .neverArrives, .happens: false
        }
    }
}

/// SplitMix64, which gives the same numbers for the same seed.
private struct StoryDice: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
