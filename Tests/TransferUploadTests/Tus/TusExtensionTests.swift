import Testing
import TransferCore

@testable import TransferUpload

@Suite struct TusChecksumTests {
    private typealias Script = DialogueScript<TusDialogue>
    private let digest = Checksum(.sha1, hex: "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed")

    /// Returns a created upload whose server offers sha1 and md5. The first digest is requested.
    private func created(_ options: TusOptions = TusOptions(checksum: .sha1)) -> Script {
        var script = tus(options)
        script.answer(
            204,
            [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation,checksum"), ("Tus-Checksum-Algorithm", "md5, sha1")])
        script.answer(201, [("Location", "/files/u1")])
        return script
    }

    private func wanted(_ script: Script) -> (id: Int, range: Range<Int64>)? {
        for case .digest(let id, .sha1, let range) in script.actions { return (id, range) }
        return nil
    }

    /// The example of the protocol's text.
    @Test func eachChunkIsDigestedFirstAndSentWithItsDigest() throws {
        var script = created(TusOptions(chunkSize: 11, checksum: .sha1))
        let wanted = try #require(self.wanted(script))
        #expect(wanted.range == 0..<11)
        #expect(script.requests.isEmpty)
        let digest = try #require(digest)
        script.digest(wanted.id + 1000, digest)
        #expect(script.actions.isEmpty)
        script.digest(wanted.id, digest)
        #expect(script.request?.field("Upload-Checksum") == "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=")
        #expect(script.request?.body == .source(0..<11))
        script.answer(204, [("Upload-Offset", "11")])
        #expect(self.wanted(script)?.range == 11..<22)
    }

    @Test func chunksAre64MiBUnlessSaidOtherwise() throws {
        let size: Int64 = 200 << 20
        var script = tus(size: size, TusOptions(checksum: .sha1))
        script.answer(204, [("Tus-Extension", "checksum"), ("Tus-Checksum-Algorithm", "sha1")])
        script.answer(201, [("Location", "/files/u1")])
        #expect(wanted(script)?.range == 0..<(64 << 20))
        #expect(Script.created(size: size).request?.body == .source(0..<size))
    }

    @Test func anAlgorithmThatIsNotOfferedIsNotUsed() throws {
        for fields in [
            [("Tus-Extension", "creation,checksum"), ("Tus-Checksum-Algorithm", "md5,crc32")],
            [("Tus-Extension", "creation"), ("Tus-Checksum-Algorithm", "sha1")], [],
        ] {
            var script = tus(TusOptions(checksum: .sha1))
            script.answer(200, fields)
            script.answer(201, [("Location", "/files/u1")])
            #expect(script.request?.method == "PATCH")
            #expect(script.request?.body == .source(0..<100))
            #expect(script.request?.field("Upload-Checksum") == nil)
        }
    }

    @Test func aLaterAttemptKeepsTheAgreedAlgorithm() throws {
        let state = try created().kept()
        var script = tus(TusOptions(checksum: .sha1), state: state)
        #expect(script.request?.method == "HEAD")
        script.answer(200, [("Upload-Offset", "25")])
        #expect(wanted(script)?.range == 25..<100)
    }

    @Test func aMismatchIsSentAgainThriceAndThenFails() throws {
        var script = created()
        let digest = try #require(digest)
        for _ in 0..<3 {
            script.digest(try #require(wanted(script)).id, digest)
            script.answer(460)
            #expect(script.request?.method == "HEAD")
            script.answer(200, [("Upload-Offset", "0")])
        }
        script.digest(try #require(wanted(script)).id, digest)
        script.answer(460)
        #expect(script.failure?.code == .checksumMismatch)
        #expect(script.failure?.isTransient == false)
    }

    @Test func mismatchesOfDifferentChunksAreCountedApart() throws {
        var script = created(TusOptions(chunkSize: 10, checksum: .sha1))
        let digest = try #require(digest)
        for chunk in 0..<10 {
            // Three mismatches for each chunk, and five in total.
            for _ in 0..<(chunk < 1 ? 3 : chunk < 3 ? 1 : 0) {
                script.digest(try #require(wanted(script)).id, digest)
                script.answer(460)
                script.answer(200, [("Upload-Offset", "\(chunk * 10)")])
            }
            script.digest(try #require(wanted(script)).id, digest)
            script.answer(204, [("Upload-Offset", "\(chunk * 10 + 10)")])
        }
        #expect(script.result != nil)
        var flaky = created(TusOptions(chunkSize: 10, checksum: .sha1))
        for chunk in 0..<6 {
            flaky.digest(try #require(wanted(flaky)).id, digest)
            flaky.answer(460)
            if chunk == 5 { break }
            flaky.answer(200, [("Upload-Offset", "\(chunk * 10)")])
            flaky.digest(try #require(wanted(flaky)).id, digest)
            flaky.answer(204, [("Upload-Offset", "\(chunk * 10 + 10)")])
        }
        #expect(flaky.failure?.isTransient == true, "what came through stays; another attempt goes on")
    }
}

@Suite struct TusConcatenationTests {
    private typealias Script = DialogueScript<TusDialogue>

    @Test func partsAreCreatedAndSentAtTheSameTimeAndThenJoined() throws {
        var script = tus(TusOptions(parallel: 3, minimumPartSize: 10))
        script.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation,concatenation")])
        let creations = script.requests
        #expect(creations.map { $0.field("Upload-Length") } == ["34", "33", "33"])
        #expect(creations.allSatisfy { $0.field("Upload-Concat") == "partial" })
        var chunks: [UploadRequest] = []
        for (index, request) in creations.enumerated() {
            script.answer(201, [("Location", "/files/p\(index)")], to: request)
            #expect(script.saved.count == index + 1, "each is kept before its first byte is sent")
            chunks += script.requests
        }
        #expect(chunks.map(\.body) == [.source(0..<34), .source(34..<67), .source(67..<100)])
        script.answer(204, [("Upload-Offset", "33")], to: chunks[2])
        #expect(script.confirmed == 33)
        script.answer(204, [("Upload-Offset", "34")], to: chunks[0])
        #expect(script.confirmed == 67)
        #expect(script.requests.isEmpty)
        script.answer(204, [("Upload-Offset", "33")], to: chunks[1])

        let join = try #require(script.request)
        let saved = try script.kept()
        #expect(script.actions == [.confirmed(100), .save(saved), .send(join)])
        #expect(join.method == "POST")
        #expect(join.url == "https://h.test/files")
        #expect(join.field("Upload-Length") == nil)
        #expect(
            join.field("Upload-Concat")
                == "final;https://h.test/files/p0 https://h.test/files/p1 https://h.test/files/p2")
        #expect(join.field("Upload-Metadata")?.contains("filename") == true)
        script.answer(201, [("Location", "/files/all")])
        #expect(script.request?.method == "HEAD", "complete is what the server says is complete")
        #expect(script.request?.url == "https://h.test/files/all")
        script.answer(200, [("Upload-Offset", "100"), ("Upload-Length", "100")])
        #expect(script.result?.url == "https://h.test/files/all")
    }

    @Test(
        arguments: [
            (100, 3, 10, ["34", "33", "33"]), (100, 3, 60, ["100"]), (100, 8, 30, ["34", "33", "33"]), (0, 3, 1, ["0"]),
            (2, 3, 0, ["1", "1"]), (100, 0, 1, ["100"]), (100, -1, 1, ["100"]),
        ] as [(Int64, Int, Int64, [String])])
    func theNumberOfPartsFollowsFromTheSize(
        _ size: Int64, _ parallel: Int, _ minimum: Int64, _ lengths: [String]
    ) throws {
        var script = tus(size: size, TusOptions(checksum: .sha1, parallel: parallel, minimumPartSize: minimum))
        script.answer(204, [("Tus-Extension", "creation,concatenation")])
        #expect(script.requests.map { $0.field("Upload-Length") } == lengths)
        #expect(script.requests.allSatisfy { ($0.field("Upload-Concat") != nil) == (lengths.count > 1) })
    }

    @Test func aServerThatDoesNotJoinGetsOneUpload() throws {
        var script = tus(TusOptions(parallel: 3, minimumPartSize: 10))
        script.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation")])
        #expect(script.requests.count == 1)
        #expect(script.request?.field("Upload-Concat") == nil)
    }

    @Test func aFailedPartStopsTheOthers() throws {
        var (script, chunks) = Script.inParts()
        script.lose(of: chunks[1])
        #expect(script.actions.dropLast() == [.stop(request: chunks[0].id), .stop(request: chunks[2].id)])
        #expect(script.failure?.code == .connectionLost)
        script.answer(204, [("Upload-Offset", "34")], to: chunks[0])
        #expect(script.actions.isEmpty)
    }

    @Test func theSumOfThePartsIsReportedOnceAllHaveAnswered() throws {
        let state = try Script.inParts().0.kept()
        var script = tus(TusOptions(), state: state)
        let heads = script.requests
        #expect(heads.map(\.url) == (0..<3).map { "https://h.test/files/p\($0)" })
        script.answer(200, [("Upload-Offset", "10")], to: heads[0])
        #expect(script.confirmed == nil)
        script.answer(200, [("Upload-Offset", "33")], to: heads[1])
        #expect(script.confirmed == nil)
        #expect(script.requests.isEmpty)
        script.answer(200, [("Upload-Offset", "20")], to: heads[2])
        #expect(script.confirmed == 63)
        #expect(script.request?.body == .source(87..<100))
    }

    @Test func aPartThatWasNeverCreatedIsCreatedByTheNextAttempt() throws {
        var script = tus(TusOptions(parallel: 3, minimumPartSize: 10))
        script.answer(204, [("Tus-Extension", "creation,concatenation")])
        script.answer(201, [("Location", "/files/p0")], to: script.requests[0])
        let next = tus(TusOptions(parallel: 3, minimumPartSize: 10), state: try script.kept())
        #expect(next.requests.map(\.method) == ["HEAD", "POST", "POST"])
        #expect(next.requests.map { $0.field("Upload-Concat") } == [nil, "partial", "partial"])
    }

    @Test func aPartThatIsGoneIsSentAgainAndTheOthersStay() throws {
        let state = try Script.inParts().0.kept()
        var script = tus(TusOptions(), state: state)
        let heads = script.requests
        script.answer(200, [("Upload-Offset", "34")], to: heads[0])
        script.answer(410, to: heads[1])
        #expect(script.restart == nil)
        let creation = try #require(script.request)
        #expect(creation.field("Upload-Length") == "33")
        script.answer(200, [("Upload-Offset", "33")], to: heads[2])
        #expect(script.confirmed == 67)
        script.answer(201, [("Location", "/files/new")], to: creation)
        #expect(script.request?.body == .source(34..<67))
        script.answer(204, [("Upload-Offset", "33")])
        #expect(
            script.request?.field("Upload-Concat")
                == "final;https://h.test/files/p0 https://h.test/files/new https://h.test/files/p2")
    }

    @Test func partsThatAreAllGoneAreAllMadeAnew() throws {
        let options = TusOptions(parallel: 8, minimumPartSize: 10)
        var script = tus(options)
        script.answer(204, [("Tus-Extension", "creation,concatenation")])
        for (index, request) in script.requests.enumerated() {
            script.answer(201, [("Location", "/files/p\(index)")], to: request)
        }
        var next = tus(options, state: try script.kept())
        #expect(next.requests.count == 8)
        for head in next.requests {
            next.answer(404, to: head)
            #expect(next.request?.method == "POST")
        }
        #expect(next.confirmed == 0)
    }

    @Test func aJoiningThatWasNotAnsweredIsNotMadeTwice() throws {
        var script = Script.joining()
        let before = try script.kept()
        script.lose()
        #expect(script.failure?.code == .mayHaveBeenSent)
        let killed = tus(TusOptions(), state: before)
        #expect(killed.requests.isEmpty)
        #expect(killed.failure?.code == .mayHaveBeenSent)
        // A user's explicit repetition joins the parts again, without sending them again.
        let again = tus(TusOptions(), state: try killed.kept())
        #expect(again.requests.map(\.method) == ["HEAD", "HEAD", "HEAD"])
    }

    @Test(arguments: [502, 504, 520, 524, 598])
    func anInconclusiveGatewayErrorIsNoAnswer(_ status: Int) throws {
        var script = Script.joining()
        script.answer(status)
        #expect(script.failure?.code == .mayHaveBeenSent)
    }

    @Test(arguments: [500, 404, 410])
    func aJoiningThatIsRefusedForNowIsTriedAgainWithTheParts(_ status: Int) throws {
        var script = Script.joining()
        script.answer(status)
        #expect(script.failure?.isTransient == true)
        let again = tus(TusOptions(), state: try script.kept())
        #expect(again.requests.count == 3)
    }

    @Test func aJoinedUploadIsConfirmedByTheNextAttempt() throws {
        var script = Script.joining()
        script.answer(201, [("Location", "/files/all")])
        script.lose()
        #expect(script.failure?.code == .connectionLost)
        var next = tus(TusOptions(), state: try script.kept())
        #expect(next.requests.map(\.url) == ["https://h.test/files/all"])
        next.answer(200, [("Upload-Offset", "100"), ("Upload-Length", "100")])
        #expect(next.confirmed == 100)
        #expect(next.result?.status == 200)
    }

    @Test func aJoinedUploadThatIsNotReadyOrNotWholeIsNoSuccess() throws {
        var joined = Script.joining()
        joined.answer(201, [("Location", "/files/all")])
        for fields in [[("Upload-Length", "100")], [("Upload-Length", "100"), ("Upload-Offset", "40")], []] {
            var script = joined
            script.answer(200, fields)
            #expect(script.failure?.isTransient == true)
        }
        for fields in [[("Upload-Length", "99"), ("Upload-Offset", "99")], [("Upload-Offset", "x")]] {
            var script = joined
            script.answer(200, fields)
            #expect(script.failure?.code == .badResponse)
            #expect(script.failure?.isTransient == false)
        }
    }

    @Test func aJoinedUploadThatIsGoneMayHaveArrived() throws {
        var script = Script.joining()
        script.answer(201, [("Location", "/files/all")])
        script.answer(410)
        #expect(script.restart == nil && script.failure?.code == .mayHaveBeenSent)
    }
}

@Suite struct TusTerminationTests {
    private typealias Script = DialogueScript<TusDialogue>

    private func abandoned(_ state: UploadState?) -> Script {
        Script(
            abandoning: TusDialogue(
                url: "https://h.test/files", source: UploadSource(name: "a", size: 100), state: state))
    }

    @Test(arguments: [204, 200, 404, 410, 405, 501])
    func anUploadThatIsGivenUpIsDeleted(_ status: Int) throws {
        var script = abandoned(try Script.created().kept())
        let delete = try #require(script.request)
        #expect(script.actions == [.send(delete)])
        #expect(delete.method == "DELETE")
        #expect(delete.url == "https://h.test/files/u1")
        #expect(delete.field("Tus-Resumable") == "1.0.0")
        script.answer(status)
        #expect(script.result != nil)
    }

    @Test func abandoningAnUncreatedUploadSendsNothing() throws {
        #expect(abandoned(nil).result != nil)
        #expect(abandoned("nonsense").result != nil)
    }

    @Test func allPartsAndTheJoinedUploadAreDeleted() throws {
        var joined = Script.joining()
        joined.answer(201, [("Location", "/files/all")])
        var script = abandoned(try joined.kept())
        let deletes = script.requests
        #expect(deletes.map(\.url) == ["p0", "p1", "p2", "all"].map { "https://h.test/files/\($0)" })
        for delete in deletes.dropLast() {
            script.answer(404, to: delete)
            #expect(script.actions.isEmpty)
        }
        script.answer(204, to: deletes[3])
        #expect(script.result != nil)
    }

    @Test func aFailedDeletionIsReportedAfterTheOthersWereTried() throws {
        var script = abandoned(try Script.inParts().0.kept())
        let deletes = script.requests
        script.answer(503, to: deletes[0])
        #expect(script.actions.isEmpty)
        script.lose(of: deletes[1])
        #expect(script.actions.isEmpty)
        script.answer(204, to: deletes[2])
        #expect(script.failure?.status == 503)
    }

    @Test func aLockedUploadIsDeletedLater() throws {
        var script = abandoned(try Script.created().kept())
        script.answer(423)
        #expect(script.failure?.isTransient == true)
    }
}
