import Testing
import TransferCore

@testable import TransferUpload

/// An upload that was created by an attempt whose process ended before it received the ID.
@Suite struct S3StrayTests {
    private static let size: Int64 = 350
    private static let list = ["GET max-uploads=100&prefix=k&uploads="]
    private static let begun = ["save", "POST uploads="]

    static func state(_ size: Int64, ago: Int64 = 10, tries: Int = 0) -> UploadState {
        S3State(size: size, stage: .creating(since: S3Script.now - ago, tries: tries)).saved
    }

    @Test func theCreationIsRecordedBeforeItIsSent() throws {
        var script = try S3Script(size: Self.size)
        let create = script.begin()
        #expect(S3Script.words(create) == Self.begun)
        #expect(S3Script.saved(create) == Self.state(Self.size, ago: 0))
        // The rule holds for any new size of the source.
        for size in [Self.size, 50] {
            var next = try S3Script(size: size, state: S3Script.saved(create))
            let actions = next.begin()
            #expect(S3Script.words(actions) == Self.list)
            let request = try #require(S3Script.requests(actions).first)
            #expect(request.url == "https://s3.example/b?max-uploads=100&prefix=k&uploads=")
        }
        let amazons = try S3Location("s3://bucket/k", region: "eu-west-1")
        #expect(amazons.bucketURL == "https://bucket.s3.eu-west-1.amazonaws.com/")
    }

    /// The proof by which an upload is recognised as ours.
    @Test(
        arguments: [
            // Columns: the key, the seconds after our request, and the offset of the server's clock.
            ([("k", 0, 0)], true), ([("k", 100, 0)], true), ([("k", -5, 0)], true),
            // An upload with another key, one from before the request, and one from long after it.
            ([("k2", 0, 0)], false), ([("K", 0, 0)], false), ([("k", -6, 0)], false), ([("k", 121, 0)], false),
            // The server's clock decides.
            ([("k", 600, 600)], true), ([("k", 0, 600)], false), ([("k", -600, -600)], true),
            // Two candidates are ambiguous.
            ([("k", 0, 0), ("k", 1, 0)], false), ([("k", 0, 0), ("k2", 0, 0)], true),
            ([("k", 0, 0), ("k", -9000, 0)], true),
            ([], false),
        ] as [([(String, Int64, Int64)], Bool)])
    func onlyTheUploadOfThatTimeAndKeyIsOurs(_ uploads: [(String, Int64, Int64)], _ isOurs: Bool) throws {
        var script = try S3Script(size: Self.size, state: Self.state(Self.size))
        _ = script.begin()
        let skew = uploads.first?.2 ?? 0
        let elements = uploads.enumerated().map { number, upload in
            S3Samples.upload(upload.0, "s/\(number)", S3Script.now - 10 + upload.1)
        }
        let actions = script.answer(
            1, 200, S3Samples.uploads(elements), [HeaderField("Date", HTTPDate.format(S3Script.now + skew))])
        #expect(S3Script.words(actions) == (isOurs ? ["GET max-parts=1&uploadId=s%2F0"] : Self.begun))
    }

    @Test func anUploadWithPartsIsNotOurs() throws {
        let element = S3Samples.upload("k", "s", S3Script.now)
        func asked() throws -> S3Script {
            var script = try S3Script(size: Self.size, state: Self.state(Self.size))
            _ = script.begin()
            #expect(
                S3Script.words(script.answer(1, 200, S3Samples.uploads([element]))) == [
                    "GET max-parts=1&uploadId=s"
                ])
            return script
        }
        var script = try asked()
        #expect(S3Script.words(script.answer(2, 200, S3Samples.list([(1, 100)]))) == Self.begun)
        // An answer without a list is no proof of ownership either.
        for (status, body) in [(403, S3Samples.error("AccessDenied")), (404, ""), (200, "")] {
            script = try asked()
            #expect(S3Script.words(script.answer(2, status, body)) == Self.begun)
        }
        script = try asked()
        #expect(S3Script.words(script.answer(2, 200, S3Samples.list([]))) == ["DELETE uploadId=s"])
        #expect(S3Script.words(script.answer(3, 204)) == Self.begun)
        for status in [403, 404, 405] {
            script = try asked()
            _ = script.answer(2, 200, S3Samples.list([]))
            #expect(S3Script.words(script.answer(3, status)) == Self.begun, "\(status)")
        }
    }

    @Test(arguments: [400, 403, 404, 405, 501])
    func withoutTheRightToListTheUploadContinues(_ status: Int) throws {
        var script = try S3Script(size: Self.size, state: Self.state(Self.size))
        _ = script.begin()
        #expect(S3Script.words(script.answer(1, status, S3Samples.error("AccessDenied"))) == Self.begun)
    }

    @Test(arguments: ["", "<html>", "<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>s"])
    func aListThatCantBeReadProvesNothing(_ body: String) throws {
        var script = try S3Script(size: Self.size, state: Self.state(Self.size))
        _ = script.begin()
        #expect(S3Script.words(script.answer(1, 200, body)) == Self.begun)
    }

    @Test func aBusyServerIsAskedAgainUpToALimit() throws {
        var state = Self.state(Self.size)
        for _ in 1..<S3Stray.mostTries {
            var script = try S3Script(size: Self.size, state: state)
            _ = script.begin()
            let actions = script.answer(1, 500, S3Samples.error("InternalError"))
            #expect(S3Script.words(actions).last?.hasSuffix("transient") == true)
            state = try #require(S3Script.saved(actions))
        }
        var last = try S3Script(size: Self.size, state: state)
        _ = last.begin()
        #expect(S3Script.words(last.answer(1, 500, S3Samples.error("InternalError"))) == Self.begun)
        // A cut connection is no answer.
        var cut = try S3Script(size: Self.size, state: state)
        _ = cut.begin()
        #expect(S3Script.words(cut.lose(1)) == ["fail connectionLost transient"])
    }

    @Test func abandoningLooksForTheStrayUploadToo() throws {
        var script = try S3Script(size: Self.size, state: Self.state(Self.size))
        #expect(S3Script.words(script.abandon()) == Self.list)
        let element = S3Samples.upload("k", "s", S3Script.now)
        _ = script.answer(1, 200, S3Samples.uploads([element]))
        #expect(S3Script.words(script.answer(2, 200, S3Samples.list([]))) == ["DELETE uploadId=s"])
        #expect(S3Script.words(script.answer(3, 204)) == ["finish 204 -"])
        var refused = try S3Script(size: Self.size, state: Self.state(Self.size))
        _ = refused.abandon()
        #expect(S3Script.words(refused.answer(1, 403)) == ["finish 204 -"])
        var later = try S3Script(size: Self.size, state: Self.state(Self.size))
        _ = later.abandon()
        #expect(S3Script.words(later.answer(1, 503)) == ["fail httpStatus transient"])
    }

    @Test(
        arguments: [
            ("2023-11-14T22:13:20.000Z", 1_700_000_000), ("2023-11-14T22:13:20Z", 1_700_000_000),
            ("2023-11-14T22:13:20", nil), ("2023-13-14T22:13:20Z", nil), ("yesterday", nil), ("", nil),
            ("2023-11-14 22:13:20.000Z", nil), ("2023-11-14T2x:13:20.000Z", nil),
        ] as [(String, Int64?)])
    func timesAreReadInTheirOneForm(_ text: String, _ seconds: Int64?) {
        #expect(S3Answers.time(text) == seconds)
    }

    /// For any fault at any request, the created upload is completed or aborted.
    @Test(arguments: [S3Mishap.answerLost, .killedAfter, .killedBefore, .cut])
    func everyCreatedUploadIsCompletedOrAborted(_ mishap: S3Mishap) throws {
        let options = S3Options(threshold: 50, partSize: 40, minimumPartSize: 1, parallel: 2, integrity: .sha256)
        for number in 0..<8 {
            for refuses in [false, true] {
                var story = S3Story(210, options)
                story.mishaps = [0: .killedAfter]
                story.mishaps[number] = mishap
                story.model.refusesListing = refuses
                try story.run()
                #expect(story.model.objects["dir/a b"]?.bytes == story.source)
                if refuses { continue }
                #expect(story.model.openUploads == 0, "\(mishap) at \(number)")
            }
        }
    }
}
