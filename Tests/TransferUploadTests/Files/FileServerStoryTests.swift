import Testing
import TransferCore
import TransferTestServer
import TransferUpload

/// Whole uploads to a file server, with one fault at each possible place.
@Suite struct FileServerStoryTests {
    private typealias Story = DialogueStory<FileModel>
    private let content = Content.random(seed: 9, count: 24).bytes()
    private static let url = "sftp://server.test/in/f"
    private static let old = FileModel.File(bytes: Array(repeating: 1, count: 24), modified: 1_500_000_000)

    private func story(
        _ model: FileModel = FileModel(), _ faults: [Int: StoryFault<FileModel>] = [:], content: [UInt8]? = nil
    ) -> Story {
        var story = Story(model, content ?? self.content, faults: faults) { source, state in
            FileServerUpload(url: Self.url, source: source, state: state, mark: "m1")
        }
        story.url = Self.url
        return story
    }

    /// The variants of a server: whether a file of that name exists, and which commands the server supports.
    private static let models: [FileModel] = [true, false].flatMap { replaces in
        [true, false].flatMap { tellsTimes in
            [nil, old].map { file in
                var model = FileModel()
                model.replaces = replaces
                model.tellsTimes = tellsTimes
                model.files["/in/f"] = file
                return model
            }
        }
    }

    private func expectWhole(_ story: Story, _ outcome: StoryOutcome, _ what: String) {
        #expect(outcome.error == nil && outcome.result?.url == Self.url, "\(what): \(outcome.log)")
        // The server has the file, and no other file beside it.
        #expect(story.service.files.mapValues(\.bytes) == ["/in/f": story.content], "\(what): \(outcome.log)")
        #expect(outcome.confirmed.last == Int64(story.content.count), "\(what)")
    }

    private func requests(_ model: FileModel) throws -> Int {
        var story = story(model)
        let outcome = try story.run()
        expectWhole(story, outcome, "no fault")
        #expect(outcome.attempts == 1 && outcome.sent == Int64(content.count) && outcome.restarts == [])
        return outcome.requests
    }

    @Test(arguments: models.indices)
    func everyUploadSurvivesACutOrADeathAfterEachByteOfEachRequest(_ index: Int) throws {
        let model = Self.models[index]
        for number in 1...(try requests(model)) {
            for count in 0...content.count {
                for isKill in [false, true] {
                    var story = story(model, [number: isKill ? .kill(after: count) : .cut(after: count)])
                    let outcome = try story.run()
                    let what = "request \(number) \(isKill ? "killed" : "cut") after \(count) bytes"
                    expectWhole(story, outcome, what)
                    #expect(outcome.attempts == 2, "\(what)")
                    #expect(outcome.sent == Int64(content.count), "\(what): what arrived is never sent again")
                    #expect(outcome.restarts == [], "\(what)")
                }
            }
        }
    }

    @Test(arguments: models.indices) func everyUploadSurvivesALostAnswerToEachRequest(_ index: Int) throws {
        let model = Self.models[index]
        for number in 1...(try requests(model)) {
            for fault in [StoryFault<FileModel>.lostAnswer, .neverArrives, .killedBefore] {
                var story = story(model, [number: fault])
                let outcome = try story.run()
                expectWhole(story, outcome, "request \(number), \(fault)")
                #expect(outcome.sent == Int64(content.count) && outcome.restarts == [], "request \(number), \(fault)")
            }
        }
    }

    @Test(arguments: models.indices) func aVanishedPartIsSentOnceMoreAndReported(_ index: Int) throws {
        let model = Self.models[index]
        for number in 2...(try requests(model)) + 1 {
            var story = story(model, [1: .cut(after: 10), number: .happens { $0.losePart() }])
            let outcome = try story.run()
            #expect(outcome.sent <= Int64(content.count) * 2, "before request \(number)")
            // The server had received the whole file, and a user removed it.
            if outcome.error?.code == .mayHaveBeenSent { continue }
            expectWhole(story, outcome, "before request \(number)")
        }
    }

    @Test func aPartMissingAfterABreakIsReportedOnce() throws {
        var story = story(FileModel(), [1: .cut(after: 10), 2: .happens { $0.losePart() }])
        let outcome = try story.run()
        expectWhole(story, outcome, "gone")
        #expect(outcome.restarts == ["the server no longer has anything of the file"])
    }

    @Test(arguments: [25, 100]) func anOverlongPartIsDiscarded(_ count: Int) throws {
        let grow: @Sendable (inout FileModel) -> Int64 = { model in
            guard let name = model.part?.name else { return 0 }
            model.files[name]?.bytes = Array(repeating: 7, count: count)
            return 10
        }
        var story = story(FileModel(), [1: .cut(after: 10), 2: .happens(grow)])
        let outcome = try story.run()
        expectWhole(story, outcome, "\(count)")
        #expect(outcome.restarts == ["the server has \(count) bytes of a file with 24"])
        #expect(story.service.removed == ["/in/.f.m1.part"])
    }

    @Test func aServerWithoutLengthsGetsTheWholeFileAgain() throws {
        var model = FileModel()
        model.tellsLengths = false
        var plain = story(model)
        let first = try plain.run()
        expectWhole(plain, first, "no fault")
        var story = story(model, [1: .cut(after: 10)])
        let outcome = try story.run()
        expectWhole(story, outcome, "cut")
        #expect(
            outcome.restarts.count == 1 && outcome.restarts[0].hasPrefix("the server does not report how much it has"))
        #expect(story.service.removed == ["/in/.f.m1.part"])
    }

    /// An account that may only write: a file is sent twice only after a break.
    @Test func aServerThatRefusesLookUpsGetsTheFileAgainOnlyAfterABreak() throws {
        var model = FileModel()
        model.looks = 403
        for replaces in [true, false] {
            model.replaces = replaces
            var plain = story(model)
            let first = try plain.run()
            expectWhole(plain, first, "no fault")
            #expect(first.sent == Int64(content.count) && first.restarts == [])
        }
        var cut = story(model, [1: .cut(after: 10)])
        let outcome = try cut.run()
        expectWhole(cut, outcome, "cut")
        #expect(outcome.attempts == 2 && outcome.sent == Int64(content.count) + 10)
        #expect(outcome.restarts.count == 1, "\(outcome.restarts)")
        // The hidden file of the earlier upload was removed after its successor had the name, and not before.
        #expect(cut.service.removed == ["/in/.f.m1.part"])
        #expect(outcome.log.last?.hasPrefix("DELETE") == true, "\(outcome.log)")
        // The rename request was lost, so it is repeated.
        var unnamed = story(model, [3: .neverArrives])
        let again = try unnamed.run()
        expectWhole(unnamed, again, "never arrived")
        // The answer to the rename was lost: the hidden file is gone, and no answer says whether the file has its name.
        var lost = story(model, [3: .lostAnswer])
        #expect(try lost.run().error?.code == .mayHaveBeenSent)
        #expect(lost.service.files.mapValues(\.bytes) == ["/in/f": content])
    }

    @Test func withoutRenamePermissionTheFileIsSentAgainUnderItsOwnName() throws {
        for looks in [nil, 403] {
            var model = FileModel()
            model.letsRename = false
            model.looks = looks
            var plain = story(model)
            let first = try plain.run()
            #expect(first.error == nil && first.attempts == 1 && first.sent == Int64(content.count) * 2, "\(first.log)")
            #expect(plain.service.files["/in/f"]?.bytes == content)
            // A break in a later request: the part is complete and is not sent again.
            for number in 4...5 {
                var cut = story(model, [number: .cut(after: 10)])
                let outcome = try cut.run()
                #expect(outcome.error == nil && cut.service.files["/in/f"]?.bytes == content, "\(outcome.log)")
                #expect(outcome.sent <= Int64(content.count) * 3, "\(outcome.log)")
            }
        }
    }

    @Test func anEmptyFileArrives() throws {
        for fault in [nil, StoryFault<FileModel>.lostAnswer] {
            for number in 1...3 {
                var story = story(FileModel(), fault.map { [number: $0] } ?? [:], content: [])
                let outcome = try story.run()
                #expect(story.service.files.mapValues(\.bytes) == ["/in/f": []], "\(outcome.log)")
            }
        }
    }

    /// An old file has the same length, and the new file has not been renamed yet. The time distinguishes them.
    @Test func anOldFileOfTheSameLengthIsNotTakenForTheUpload() throws {
        var model = FileModel()
        model.files["/in/f"] = Self.old
        var story = story(model, [3: .neverArrives, 4: .happens { $0.losePart() }])
        let outcome = try story.run()
        #expect(outcome.error?.code == .mayHaveBeenSent && outcome.result == nil)
        #expect(story.service.files == ["/in/f": Self.old])
    }

    @Test func givingUpRemovesThePart() throws {
        var story = story(FileModel(), [1: .kill(after: 10), 2: .killedBefore])
        story.attemptLimit = 2
        _ = try story.run()
        #expect(story.service.part?.file.bytes.count == 10)
        let outcome = try story.abandon()
        #expect(
            outcome.error == nil && story.service.files.isEmpty
                && outcome.log == ["DELETE sftp://server.test/in/.f.m1.part"])
        // The second removal finds no file, which is no error.
        #expect(try story.abandon().error == nil)
    }
}
