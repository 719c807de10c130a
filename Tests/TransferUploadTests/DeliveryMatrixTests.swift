import Testing
import TransferCore
import TransferTestServer

@testable import TransferUpload

/// Every protocol, and every way in which the arrival of an upload can be unknown, for each of its requests including
/// the last.
///
/// In no combination is a file delivered twice without a report. The upload succeeds, or a repeatable request sends it
/// again, which is reported. Otherwise it ends as one that may have been sent.
@Suite struct DeliveryMatrixTests {
    /// The fault after the server has carried out the request.
    enum Doubt: Hashable, CaseIterable, CustomTestStringConvertible {
        case lostAnswer, killed
        case timeout, tooEarly, badGateway, unavailable, gatewayTimeout, gatewaysOwn

        var fault: StoryFault<AnyConformingServer> {
            switch self {
            case .lostAnswer: .lostAnswer
            case .killed: .kill(after: .max)
            case .timeout: .gateway(408)
            case .tooEarly: .gateway(425)
            case .badGateway: .gateway(502)
            case .unavailable: .gateway(503)
            case .gatewayTimeout: .gateway(504)
            case .gatewaysOwn: .gateway(522)
            }
        }

        var testDescription: String { "\(self)" }
    }

    private typealias Story = DialogueStory<AnyConformingServer>

    private func story(_ upload: UploadUnderTest, takes: Bool) -> Story {
        let content = Content.random(seed: 6, count: Int64(upload.content)).bytes()
        var server = AnyConformingServer(server: upload.server())
        if takes { server.takes = content }
        var story = Story(server, content) { upload.dialogue($0, $1) }
        story.fileName = "f"
        story.now = UploadUnderTest.now
        story.attemptLimit = 1
        return story
    }

    private func requests(_ upload: UploadUnderTest) throws -> Int {
        var story = story(upload, takes: false)
        return try story.run().requests
    }

    private struct End {
        var story: DialogueStory<AnyConformingServer>
        var result: UploadResult?
        var error: TransferError?
        var restarts: [String] = []
        var copies = 0
    }

    /// Makes attempts as the owner of an upload does: as many as needed, or one for uploads that are never sent twice.
    private func end(_ upload: UploadUnderTest, _ doubt: Doubt, at number: Int, takes: Bool) throws -> End {
        var end = End(story: story(upload, takes: takes))
        end.story.faults = [number: doubt.fault]
        for _ in 0..<6 {
            let outcome = try end.story.run()
            end.restarts += outcome.restarts
            (end.result, end.error) = (outcome.result, outcome.lastError)
            let isOver = outcome.result != nil || upload.isOnce || outcome.lastError?.isTransient == false
            if isOver { break }
            if doubt == .killed, upload.isAskedAfterDeath, end.story.state?.canAsk != true {
                end.story.state = ConfirmingPut.state(began: UploadUnderTest.now - 10)
            }
            end.story.faults = [:]
        }
        end.copies = end.story.service.taken + end.story.service.server.wholeFiles.count { $0 == end.story.content }
        return end
    }

    @Test(arguments: UploadUnderTest.all, Doubt.allCases)
    func anUploadThatMayHaveArrivedIsFoundByAQuestion(_ upload: UploadUnderTest, _ doubt: Doubt) throws {
        let count = try requests(upload)
        for number in 1...count {
            let end = try end(upload, doubt, at: number, takes: false)
            let cell = "\(upload.name), \(doubt), request \(number) of \(count): \(end.story.outcome.log)"
            #expect(end.copies == 1 || end.error != nil, "\(cell)")
            #expect(end.copies <= 1, "\(cell)")
            if upload.isOnce {
                if let error = end.error { #expect(DeliveryRule.mayHaveBeenTaken(error), "\(cell): \(error)") }
            } else if !(upload.admitsDoubt && end.error?.code == .mayHaveBeenSent) {
                #expect(end.result != nil, "\(cell): \(String(describing: end.error))")
            }
        }
    }

    /// A program may fail after it stored the file of a PUT. The question finds the file, and it is stored once.
    @Test(arguments: UploadUnderTest.all.filter(\.isAskedAfterDeath))
    func aPutThatIsAnsweredBy500IsAskedAbout(_ upload: UploadUnderTest) throws {
        let count = try requests(upload)
        var end = End(story: story(upload, takes: false))
        end.story.faults = [count: .gateway(500)]
        var attempts = 0
        while end.result == nil, attempts < 6 {
            end.result = try end.story.run().result
            end.story.faults = [:]
            attempts += 1
        }
        #expect(end.result != nil && attempts == 2, "\(end.story.outcome.log)")
        #expect(end.story.service.server.wholeFiles.count { $0 == end.story.content } == 1)
    }

    /// A success that says nothing about the file: the question within the same attempt finds it.
    @Test(arguments: UploadUnderTest.all.filter(\.isAskedAfterDeath), [203, 206, 207])
    func aPutWithADoubtfulSuccessIsAskedAbout(_ upload: UploadUnderTest, _ status: Int) throws {
        var end = End(story: story(upload, takes: false))
        end.story.faults = [try requests(upload): .gateway(status)]
        let outcome = try end.story.run()
        #expect(outcome.result?.status == status, "\(outcome.log): \(String(describing: outcome.lastError))")
        #expect(end.story.service.server.wholeFiles.count { $0 == end.story.content } == 1)
    }

    /// A server whose user removes files as soon as they have come. No question finds them, and the last step decides.
    @Test(arguments: UploadUnderTest.all, Doubt.allCases)
    func aRemovedFileIsNeverDeliveredTwiceWithoutAReport(_ upload: UploadUnderTest, _ doubt: Doubt) throws {
        let count = try requests(upload)
        for number in 1...count {
            let end = try end(upload, doubt, at: number, takes: true)
            let cell = "\(upload.name), \(doubt), request \(number) of \(count): \(end.story.outcome.log)"
            #expect(end.copies <= 2, "\(cell)")
            #expect(end.copies <= 1 || !end.restarts.isEmpty, "\(cell)")
            // An upload that is never sent twice has no second attempt after the death of its process either.
            let isOver = end.result != nil || end.error != nil || upload.isOnce && doubt == .killed
            #expect(isOver, "\(cell)")
        }
    }
}
