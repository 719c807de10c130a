import Testing
import TransferCore

@testable import TransferUpload

@Suite struct S3StoryTests {
    static let part = 40

    private static func options(_ integrity: S3Options.Integrity, parallel: Int = 3) -> S3Options {
        S3Options(
            threshold: 50, partSize: Int64(part), minimumPartSize: 1, parallel: parallel, integrity: integrity,
            headers: [HeaderField("x-amz-meta-note", "n")])
    }

    private static let integrities: [S3Options.Integrity] = [.none, .md5, .sha256, .storedSHA256]

    private func expectTheObject(_ story: S3Story, _ what: Comment) throws {
        let object = try #require(story.model.objects["dir/a b"], what)
        #expect(object.bytes == story.source, what)
        #expect(object.fields.value("x-amz-meta-note") == "n", what)
        #expect(story.model.objects.count == 1, what)
        #expect(story.result?.validator == "\"\(object.etag)\"", what)
        #expect(story.model.openUploads == 0, what)
    }

    @Test(arguments: integrities, [0, 1, 50, 51, 80, 81, 333])
    func everySizeArrivesOnce(_ integrity: S3Options.Integrity, _ size: Int) throws {
        var story = S3Story(size, Self.options(integrity))
        try story.run()
        try expectTheObject(story, "\(size)")
        #expect(story.attempts == 1)
        #expect(story.sent == Int64(size))
        #expect(story.model.writes == 1)
        let parts = (size + Self.part - 1) / Self.part
        #expect(story.requests == (size <= 50 ? 1 : parts + 2))
    }

    @Test(arguments: integrities, [30, 210])
    func everyMishapAtEveryRequestEndsWell(_ integrity: S3Options.Integrity, _ size: Int) throws {
        var plain = S3Story(size, Self.options(integrity))
        try plain.run()
        for mishap in S3Mishap.allCases {
            for number in 0..<plain.requests {
                for wholeTags in [false, true] {
                    var story = S3Story(size, Self.options(integrity), seed: UInt64(number))
                    story.model.givesTagsOfTheWhole = wholeTags
                    story.mishaps = [number: mishap]
                    try story.run()
                    let what: Comment = "\(mishap) at \(number)"
                    try expectTheObject(story, what)
                    #expect(story.met == 1, what)
                    #expect(story.model.writes == 1, what)
                    #expect(story.attempts <= 2, what)
                    let spare: Int =
                        switch mishap {
                        // A cut costs one part more, and the end of an attempt costs the parts beside it.
                        case .refused, .cut, .answerLost, .internalError, .rubbish: min(size, Self.part)
                        case .slowDown, .killedBefore, .killedAfter: min(size, Self.part * 3)
                        case .errorUnderSuccess: 0
                        case .expired: size
                        }
                    #expect(story.sent <= Int64(size + spare), what)
                    // A repeated PUT that may have been accepted is reported.
                    #expect(story.restarts == 0 || mishap == .expired || size <= Self.part, what)
                }
            }
        }
    }

    @Test(arguments: integrities)
    func aLostAnswerCostsNoByteOfASmallFile(_ integrity: S3Options.Integrity) throws {
        for mishap in [S3Mishap.answerLost, .killedAfter] {
            var story = S3Story(30, Self.options(integrity))
            story.mishaps = [0: mishap]
            try story.run()
            try expectTheObject(story, "\(mishap)")
            #expect(story.sent == 30)
            #expect(story.model.writes == 1)
        }
    }

    @Test(arguments: [30, 210])
    func aKillAtEverySaveEndsWell(_ size: Int) throws {
        var plain = S3Story(size, Self.options(.sha256))
        try plain.run()
        for number in 0..<plain.saves {
            for isDurable in [false, true] {
                var story = S3Story(size, Self.options(.sha256))
                story.killAtSave = (number, isDurable)
                try story.run()
                try expectTheObject(story, "save \(number)")
                #expect(story.attempts == 2)
                #expect(story.sent == Int64(size), "nothing that the server held is sent again")
            }
        }
    }

    @Test(arguments: 0..<40)
    func manyMishapsEndWellToo(_ seed: UInt64) throws {
        for step in 0..<10 as Range<UInt64> {
            var random = S3Random(seed: seed &* 1000 &+ step)
            let size = Int.random(in: 0...700, using: &random)
            let integrity = Self.integrities[Int.random(in: 0..<4, using: &random)]
            var story = S3Story(
                size, Self.options(integrity, parallel: Int.random(in: 1...5, using: &random)),
                seed: seed &* 77 &+ step)
            story.model.page = Int.random(in: 1...4, using: &random)
            story.model.givesTagsOfTheWhole = Bool.random(using: &random)
            if Bool.random(using: &random) { story.model.region = "eu-north-1" }
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                story.mishaps[Int.random(in: 0...40, using: &random)] =
                    S3Mishap.allCases.randomElement(using: &random) ?? .cut
            }
            try story.run()
            let object = try #require(story.model.objects["dir/a b"])
            #expect(object.bytes == story.source)
            #expect(story.model.objects.count == 1)
            #expect(story.result?.validator == "\"\(object.etag)\"")
            #expect(story.model.writes == 1, "what is there is not made again")
        }
    }

    @Test func noAnswerMakesItTrap() throws {
        var random = S3Random(seed: 3)
        let bodies = [
            S3Samples.parts, S3Samples.created("u"), S3Samples.list([(1, 100), (2, 100)]),
            S3Samples.error("NoSuchUpload"), S3Samples.uploads([S3Samples.upload("k", "u", S3Script.now)]),
            S3Samples.error("InvalidPart", region: "x-1"), "<CompleteMultipartUploadResult/>", "",
        ]
        let states = [
            nil, S3Script.state(350), S3Script.state(350, S3State.Completion(etag: "e-1")), "s3/1 size=350",
            S3StrayTests.state(350),
        ]
        for _ in 0..<500 {
            var script = try S3Script(size: 350, state: states.randomElement(using: &random) ?? nil)
            var open: [Int] = []
            var hasEnded = false
            var actions = script.begin()
            for _ in 0..<60 where !hasEnded {
                for action in actions {
                    switch action {
                    case .send(let request): open.append(request.id)
                    case .stop(let id): open.removeAll { $0 == id }
                    case .finish, .fail: hasEnded = true
                    case .digest(let id, _, _): open.append(id)
                    default: break
                    }
                }
                guard !hasEnded, let id = open.randomElement(using: &random) else { break }
                open.removeAll { $0 == id }
                let status = [200, 200, 200, 204, 301, 400, 403, 404, 500, 503].randomElement(using: &random) ?? 200
                var body = Array((bodies.randomElement(using: &random) ?? "").utf8)
                if !body.isEmpty, Bool.random(using: &random) {
                    body.removeSubrange(Int.random(in: 0..<body.count, using: &random)...)
                }
                let fields = [
                    HeaderField("ETag", "\"x\""), HeaderField("Content-Length", "350"),
                    HeaderField("x-amz-bucket-region", "eu-1"),
                ].filter { _ in Bool.random(using: &random) }
                actions = script.answer(id, status, String(decoding: body, as: UTF8.self), fields)
                if actions.isEmpty, let zeros = Checksum(.md5, hex: String(repeating: "0", count: 32)) {
                    actions = script.digested(id, zeros)
                }
            }
            #expect(hasEnded || !open.isEmpty, "it has ended, or waits for something")
        }
    }
}
