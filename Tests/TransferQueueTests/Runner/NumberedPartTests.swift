import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferQueue

/// Partial files that had to avoid an existing file of their name.
@Suite(.ofAFolder, .timeLimit(.minutes(1))) struct NumberedPartTests {
    @Test(
        arguments: [
            ("x.1.part", "x", 1), ("a.b.99.part", "a.b", 99), ("x.part", nil, 0), ("x.0.part", nil, 0),
            ("x.01.part", nil, 0), ("x.100.part", nil, 0), ("x.+1.part", nil, 0), (".1.part", nil, 0),
            ("1.part", nil, 0), ("x.1.parts", nil, 0), ("x.1", nil, 0), ("", nil, 0), (".x.2.part", ".x", 2),
        ] as [(String, String?, Int)])
    func aNumberedNameIsParsedAsItIsMade(_ name: String, _ file: String?, _ number: Int) {
        let part = NumberedPart(Array(name.utf8))
        #expect(part?.file == file && (part?.number ?? 0) == number)
        if let part { #expect(PartName.path(of: part.file, number: part.number) == name) }
    }

    @Test(
        arguments: [
            ([(0, 0), (1, 9)], 1), ([(0, 9), (1, 9)], 0), ([(0, 5), (1, 9), (2, 7)], 1), ([(0, 0), (1, 0)], nil),
            ([], nil), ([(0, 9)], 0),
        ] as [([(Int, Int64)], Int?)])
    func thePartWithTheMostBytesIsContinued(_ found: [(Int, Int64)], _ best: Int?) {
        #expect(NumberedPart.best(found.map { (number: $0.0, bytes: $0.1) }) == best)
    }

    @Test func aCensusFindsTheNumbersOfEachFile() throws {
        let folder = try TemporaryFolder("census")
        for name in ["x.1.part", "x.3.part", "y.2.part", "x.part", "x.1.part.old"] { try folder.write("", to: name) }
        let census = FolderCache()
        #expect(census.partNumbers(of: folder.path("x")).sorted() == [1, 3])
        #expect(census.partNumbers(of: folder.path("y")) == [2] && census.partNumbers(of: folder.path("z")) == [])
        try folder.write("", to: "z.1.part")
        #expect(census.partNumbers(of: folder.path("z")) == [])
        census.reset()
        #expect(census.partNumbers(of: folder.path("z")) == [1])
    }

    /// The partial file has a number, as its plain name was taken. A lost database and a name that is free by now
    /// change nothing.
    @Test(arguments: [false, true]) func theNumberedFileIsContinued(_ isRemoved: Bool) async throws {
        let runs = try DownloadRunTests()
        let folder = runs.folder
        try await withTestServer { server in
            server.serve("/x", runs.content, etag: "\"1\"")
            server.script("/x", [.stall(after: 2_000_000)])
            try folder.write("theirs", to: "x.part")
            let job = Sample.download(server.url("/x"), to: folder.path("x"))
            try await runs.interrupt(server, job)
            let size = try #require(folder.size("x.1.part"))
            try runs.removeDatabase()
            if isRemoved { unlink(folder.path("x.part")) }
            try await withQueue(folder) { queue in
                let completed = try await queue.complete([job]).completed
                #expect(completed == 1)
            }
            #expect(server.requests.last?.range == "bytes=\(size)-")
            #expect(try runs.content.firstDifference(fromFileAt: folder.path("x")) == nil)
            #expect(!folder.exists("x.1.part") && folder.exists("x.part") == !isRemoved)
        }
    }
}
