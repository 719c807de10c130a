import Testing
import TransferCore

@testable import TransferUpload

/// The size of parts and their concurrency if the job names none.
@Suite struct S3SpreadTests {
    private static let mebibyte: Int64 = 1 << 20

    private func script(parts: Int, parallel: Int? = nil) throws -> S3Script {
        try S3Script(
            size: Int64(parts) * 100,
            options: S3Options(
                threshold: 100, partSize: 100, minimumPartSize: 1, parallel: parallel, integrity: .none))
    }

    /// Begins the upload, and answers its creation.
    private func sending(_ script: inout S3Script) throws -> [UploadRequest] {
        let create = try #require(S3Script.requests(script.begin()).first)
        return S3Script.requests(script.answer(create.id, 200, S3Samples.created("u/1")))
    }

    @Test(
        arguments: [
            (17 << 20, 5), (20_000_000, 5), (320 << 20, 5), (320 << 20 | 1, 8), (512 << 20, 8), (1 << 30, 16),
            (100 << 30, 16), (200 << 30, 21), (5 << 40, 525),
        ] as [(Int64, Int64)])
    func partsGrowWithTheFile(_ size: Int64, _ expected: Int64) throws {
        let part = try #require(S3Parts.partSize(size, S3Options()))
        #expect(part == expected * Self.mebibyte)
        #expect(try #require(S3Parts(size: size, partSize: part)).count <= 10_000)
    }

    @Test func fourPartsAreSentAtFirst() throws {
        var script = try script(parts: 20)
        #expect(try sending(&script).count == UploadSpread.initial)
        #expect(script.dialogue.followsLink)
    }

    @Test func moreAreSentIfTheLinkAllowsIt() throws {
        var script = try script(parts: 40)
        _ = try sending(&script)
        let more = S3Script.words(script.dialogue.spread(over: 16, now: S3Script.now))
        #expect(more.count == 12 && more.allSatisfy { $0.hasPrefix("PUT partNumber=") })
    }

    @Test func fewerAreSentOnceThoseUnderWayHaveEnded() throws {
        var script = try script(parts: 40)
        let first = try sending(&script)
        #expect(script.dialogue.spread(over: 2, now: S3Script.now).isEmpty)
        #expect(S3Script.requests(script.tag(first[0].id, 1)).isEmpty)
        #expect(S3Script.requests(script.tag(first[1].id, 2)).isEmpty)
        #expect(S3Script.requests(script.tag(first[2].id, 3)).count == 1)
    }

    @Test func aNumberThatTheJobNamesStays() throws {
        var script = try script(parts: 40, parallel: 3)
        #expect(try sending(&script).count == 3)
        #expect(!script.dialogue.followsLink)
        #expect(script.dialogue.spread(over: 16, now: S3Script.now).isEmpty)
    }

    @Test func nothingIsSentBeforeTheServerHasListedItsParts() throws {
        var script = try S3Script(
            size: 4000, state: S3Script.state(4000),
            options: S3Options(threshold: 100, partSize: 100, minimumPartSize: 1, integrity: .none))
        let list = try #require(S3Script.requests(script.begin()).first)
        #expect(script.dialogue.spread(over: 16, now: S3Script.now).isEmpty)
        let next = S3Script.requests(script.answer(list.id, 200, S3Samples.list([(1, 100)])))
        #expect(next.count == 16)
    }

    @Test func anUploadThatIsOverIsNotSpread() throws {
        var script = try script(parts: 2)
        let parts = try sending(&script)
        _ = script.tag(parts[0].id, 1)
        _ = script.tag(parts[1].id, 2)
        #expect(!script.dialogue.followsLink)
        #expect(script.dialogue.spread(over: 16, now: S3Script.now).isEmpty)
    }
}
