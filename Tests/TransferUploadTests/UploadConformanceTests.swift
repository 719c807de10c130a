import FoundationEssentials
import Testing
import TransferCore
import TransferTestServer
import TransferUpload

/// The rules for every protocol: the contract of ``UploadDialogue``.
///
/// The stories of each protocol add further rules. A new protocol begins with its line in ``UploadUnderTest/all``. Each
/// state passes from attempt to attempt in the form that a database stores.
@Suite struct UploadConformanceTests {
    private typealias Story = DialogueStory<AnyConformingServer>
    private typealias Fault = StoryFault<AnyConformingServer>

    private func story(_ upload: UploadUnderTest, _ faults: [Int: Fault] = [:], state: UploadState? = nil) -> Story {
        var story = Story(
            AnyConformingServer(server: upload.server()), Content.random(seed: 6, count: Int64(upload.content)).bytes(),
            faults: faults
        ) { source, state in
            upload.dialogue(source, state.map(Self.stored))
        }
        story.fileName = "f"
        story.now = UploadUnderTest.now
        story.state = state
        // An upload that is never sent twice has only one attempt.
        if upload.isOnce { story.attemptLimit = 1 }
        return story
    }

    private static func stored(_ state: UploadState) -> UploadState {
        guard let data = try? JSONEncoder().encode(state) else { return state }
        let read = try? JSONDecoder().decode(UploadState.self, from: data)
        #expect(read == state)
        return read ?? state
    }

    private func requests(_ upload: UploadUnderTest) throws -> Int {
        var story = story(upload)
        return try story.run().requests
    }

    /// Expects the complete file, once.
    private func expectWhole(_ story: Story, _ outcome: StoryOutcome, _ what: String) {
        #expect(outcome.error == nil && outcome.result != nil, "\(what): \(outcome.log)")
        #expect(story.service.server.wholeFiles == [story.content], "\(what): \(outcome.log)")
        // An upload in a single request reports only its end.
        let size = Int64(story.content.count)
        #expect(outcome.confirmed.allSatisfy { (0...size).contains($0) }, "\(what)")
        #expect([nil, 0, size].contains(outcome.confirmed.last), "\(what)")
    }

    @Test(arguments: UploadUnderTest.all) func anUploadWithoutAFaultIsOneAttempt(_ upload: UploadUnderTest) throws {
        var story = story(upload)
        let outcome = try story.run()
        expectWhole(story, outcome, "no fault")
        #expect(outcome.attempts == 1 && outcome.restarts == [] && outcome.lost == 0)
        #expect(story.service.server.unfinished == 0, "nothing is left behind")
    }

    @Test(arguments: UploadUnderTest.all)
    func aCutOrADeathAfterEachByteOfEachRequestIsSurvived(_ upload: UploadUnderTest) throws {
        for number in 1...(try requests(upload)) {
            for count in 0...upload.content {
                for isKill in [false, true] {
                    try expectSurvival(upload, [number: isKill ? .kill(after: count) : .cut(after: count)])
                }
            }
        }
    }

    @Test(arguments: UploadUnderTest.all)
    func aPassingFaultOfEachRequestIsSurvived(_ upload: UploadUnderTest) throws {
        for number in 1...(try requests(upload)) {
            let faults: [Fault] = [.lostAnswer, .neverArrives, .killedBefore, .status(503), .status(429)]
            for fault in faults { try expectSurvival(upload, [number: fault]) }
        }
    }

    @Test(arguments: UploadUnderTest.all)
    func twoFaultsInARowAreSurvived(_ upload: UploadUnderTest) throws {
        for number in 1...(try requests(upload)) {
            for (first, second) in [(Fault.cut(after: 5), Fault.cut(after: 5)), (.lostAnswer, .status(503))] {
                try expectSurvival(upload, [number: first, number + 1: second])
            }
        }
    }

    private func expectSurvival(_ upload: UploadUnderTest, _ faults: [Int: Fault]) throws {
        var story = story(upload, faults)
        let outcome = try story.run()
        let what = "\(faults)"
        #expect(outcome.attempts <= faults.count + 1, "\(what): \(outcome.log)")
        let isInDoubt = upload.admitsDoubt && outcome.error?.code == .mayHaveBeenSent
        guard upload.isOnce || isInDoubt else { return expectWhole(story, outcome, what) }
        #expect(outcome.error == nil || isInDoubt, "\(what)")
        #expect(story.service.server.wholeFiles.count <= 1, "\(what)")
    }

    @Test(arguments: UploadUnderTest.all) func aSourceThatChangedIsSentWhole(_ upload: UploadUnderTest) throws {
        guard !upload.isOnce else { return }
        for number in 1...(try requests(upload)) {
            var first = story(upload, [number: .cut(after: 7)])
            first.attemptLimit = 1
            _ = try first.run()
            var other = upload
            other.content += 1
            var next = story(other, state: first.state)
            next.service = first.service
            let outcome = try next.run()
            #expect(outcome.error == nil && outcome.result != nil, "request \(number): \(outcome.log)")
            // If servers choose the names, the former version may exist complete beside the new one.
            #expect(next.service.server.wholeFiles.contains { $0 == next.content }, "request \(number)")
        }
    }

    @Test(arguments: UploadUnderTest.all) func aStateOfAnotherProtocolIsOfNoUse(_ upload: UploadUnderTest) throws {
        for state in try Self.states() where !upload.isOnce {
            var story = story(upload, state: state)
            let outcome = try story.run()
            // The state names an upload that this server has completed and of which it has nothing.
            if outcome.error?.code == .mayHaveBeenSent { continue }
            expectWhole(story, outcome, state.kind)
        }
    }

    /// Returns one state of each kind: the state that an attempt saves if each of its requests is cut.
    private static func states() throws -> [UploadState] {
        var states: [String: UploadState] = [:]
        let suite = UploadConformanceTests()
        for upload in UploadUnderTest.all {
            for number in 1...(try suite.requests(upload)) {
                // A PUT leaves a state once its whole body has been sent. Other protocols leave a part that can be made
                // anew.
                var story = suite.story(upload, [number: .cut(after: upload.isAskedAfterDeath ? 1000 : 3)])
                story.attemptLimit = 1
                _ = try story.run()
                if let state = story.state { states[state.kind] = state }
            }
        }
        #expect(states.keys.sorted() == ["files", "inPlace", "put", "resumable", "s3", "tus"])
        return states.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test(arguments: UploadUnderTest.all)
    func anAbandonedUploadIsRemovedIfTheProtocolAllowsIt(_ upload: UploadUnderTest) throws {
        for number in 1...(try requests(upload)) {
            var story = story(upload, [number: .cut(after: 7)])
            story.attemptLimit = 1
            let log = try story.run().log
            story.faults = [:]
            let outcome = try story.abandon()
            #expect(outcome.result != nil && outcome.error == nil, "request \(number): \(outcome.log)")
            guard story.state?.canAsk == true, story.state?.isHeld == true else { continue }
            // An upload whose creation was answered, but not received by the client, is unknown to any state.
            let unknown = log[number - 1].hasPrefix("POST") ? 1 : 0
            #expect(story.service.server.unfinished <= unknown, "request \(number): \(outcome.log)")
        }
    }

    /// A state that an earlier version kept as a text is read as the same state.
    @Test(arguments: UploadUnderTest.all) func theTextOfAnEarlierVersionIsRead(_ upload: UploadUnderTest) throws {
        for number in 1...(try requests(upload)) {
            var story = story(upload, [number: .cut(after: 7)])
            story.attemptLimit = 1
            _ = try story.run()
            guard let state = story.state else { continue }
            let marks = ["put": "put:", "accepted": "accepted:", "verify": "verify:"]
            #expect(UploadState(earlier: (marks[state.kind] ?? "") + state.payload) == state)
        }
    }
}
