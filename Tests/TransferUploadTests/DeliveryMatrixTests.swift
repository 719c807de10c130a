import Testing
import TransferCore
import TransferTestServer

@testable import TransferUpload

/// Protocols × ways in which it is unknown whether an upload arrived, for each of its requests, the last step among them.
///
/// In no cell is a file delivered twice in silence: the upload succeeds, is sent again by a request that may be repeated,
/// which is reported, or ends as one that may have been sent.
@Suite struct DeliveryMatrixTests {
    /// The server has done what the request was for, and:
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

    /// Attempts as their owner makes them: as many as it takes, and one of what is never sent twice.
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
    func whatMayHaveArrivedIsAskedForAndFound(_ upload: UploadUnderTest, _ doubt: Doubt) throws {
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

    /// A server whose user takes files away as soon as they have come: nothing can be asked for, and the last step decides.
    @Test(arguments: UploadUnderTest.all, Doubt.allCases)
    func whatIsTakenAwayAtOnceIsNeverDeliveredTwiceInSilence(_ upload: UploadUnderTest, _ doubt: Doubt) throws {
        let count = try requests(upload)
        for number in 1...count {
            let end = try end(upload, doubt, at: number, takes: true)
            let cell = "\(upload.name), \(doubt), request \(number) of \(count): \(end.story.outcome.log)"
            #expect(end.copies <= 2, "\(cell)")
            #expect(end.copies <= 1 || !end.restarts.isEmpty, "\(cell)")
            // What is never sent twice has no second attempt after a death either.
            let isOver = end.result != nil || end.error != nil || upload.isOnce && doubt == .killed
            #expect(isOver, "\(cell)")
        }
    }
}
