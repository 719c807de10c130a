import Testing
import TransferCore

@testable import TransferUpload

/// Large files whose number of concurrent parts depends on the link.
@Suite struct TusSpreadTests {
    private typealias Script = DialogueScript<TusDialogue>

    private static let offered = [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation,concatenation")]
    private static let size: Int64 = 128 << 20

    /// Returns an upload whose server has been asked for its extensions.
    private func script(_ size: Int64 = size, _ fields: [(String, String)] = offered) -> Script {
        var script = tus(size: size, TusOptions(parallel: nil))
        #expect(script.request?.method == "OPTIONS")
        script.answer(204, fields)
        return script
    }

    @Test func aFileThatIsSmallIsCreatedAtOnce() {
        let script = tus(size: TusOptions.worthDividing - 1, TusOptions(parallel: nil))
        #expect(script.request?.method == "POST" && script.request?.field("Upload-Concat") == nil)
        #expect(!script.dialogue.followsLink)
    }

    @Test func aServerThatJoinsNothingGetsOneUpload() {
        let script = script(Self.size, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation")])
        #expect(script.requests.map { $0.field("Upload-Length") } == ["\(Self.size)"])
        #expect(!script.dialogue.followsLink)
    }

    @Test(arguments: [(32 << 20, 4), (64 << 20, 8), (128 << 20, 16), (10 << 30, 16)] as [(Int64, Int)])
    func partsHaveEightMebibytesAtLeastAndAreSixteenAtMost(_ size: Int64, _ count: Int) {
        var script = script(size)
        #expect(script.dialogue.pieces.count == count)
        #expect(script.requests.count == UploadSpread.initial)
        #expect(script.requests.allSatisfy { $0.field("Upload-Concat") == "partial" })
        let more = script.dialogue.spread(over: 16, now: 0)
        #expect(more.count == count - UploadSpread.initial)
    }

    @Test func aCompletePartIsReplacedByTheNext() throws {
        var script = script()
        let creation = try #require(script.requests.first)
        script.answer(201, [("Location", "/files/p0")], to: creation)
        let patch = try #require(script.requests.first)
        script.answer(204, [("Upload-Offset", "\(8 << 20)")], to: patch)
        #expect(script.confirmed == 8 << 20)
        #expect(script.requests.map(\.method) == ["POST"])
    }

    /// The next attempt asks about the existing parts, and creates the missing ones.
    @Test func existingPartsAreResumedAfterABreak() throws {
        var script = script()
        for (index, creation) in script.requests.enumerated() {
            script.answer(201, [("Location", "/files/p\(index)")], to: creation)
        }
        var next = tus(size: Self.size, TusOptions(parallel: nil), state: try script.kept())
        #expect(next.requests.map(\.method) == ["HEAD", "HEAD", "HEAD", "HEAD"])
        let head = try #require(next.requests.first)
        next.answer(200, [("Upload-Offset", "\(8 << 20)"), ("Upload-Length", "\(8 << 20)")], to: head)
        #expect(next.requests.map(\.method) == ["POST"])
    }

    @Test func theSourceOfACopyIsSentInOneUpload() {
        var source = UploadSource(name: "x", size: Self.size)
        source.isStreamed = true
        #expect(TusOptions(parallel: nil).parts(of: source) == 1)
        #expect(!TusOptions(parallel: nil).needsFeatures(for: source))
    }
}
