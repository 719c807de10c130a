import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Downloads from file servers, by the command, against OpenSSH, vsftpd and pyftpdlib.
@Suite(.serialized, .enabled(if: FileServerKind.isWanted), .timeLimit(.minutes(3)))
struct FileServerDownloadTests {
    private static let size = FileServerBench.size

    @Test(arguments: FileServerKind.allCases) func arrivesWholeWithItsTime(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.serve()
        try bench.writeDownload()
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheDownload()
        let facts = try FileManager.default.attributesOfItem(atPath: bench.place.folder.path("g"))
        #expect(facts[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_600_000_000))
        // The second run finds the file complete, and the server is not asked.
        let connections = bench.relay.connectionCount
        #expect(try await bench.place.runJobs().exitCode == 0)
        #expect(bench.relay.connectionCount == connections)
    }

    /// The first connection is slow enough for further connections to pay.
    @Test(arguments: FileServerKind.allCases) func severalConnectionsFetchOneFile(_ kind: FileServerKind)
        async throws
    {
        let bench = try await FileServerBench(kind, sendsSlowly: true)
        try bench.serve()
        try bench.writeDownload(#""segments": 3, "limitRate": "3M""#)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheDownload()
        let sources = try result.events().named("job.finished").first?["sources"]?.array
        #expect((sources?.first?["connections"]?.int ?? 1) > 1, "\(result)")
        #expect(bench.relay.connectionCount > 1)
    }

    @Test(arguments: FileServerKind.allCases) func resumesWhereItWasCut(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind, sendsSlowly: true)
        try bench.serve()
        // The file is long enough for a change that comes late on a busy machine.
        try bench.writeDownload(limit: 20, #""limitRate": "3M""#)
        let process = try bench.place.startJobs()
        for round in 1...3 {
            try await bench.waitForLocalPart(round * 3 << 19)
            bench.cut()
        }
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheDownload()
        let events = try result.events()
        // The kernel still delivers a connection's last bytes: a late cut may have no effect.
        #expect((1...3).contains(events.named("job.retrying").count), "\(result)")
        #expect(events.named("job.restarted").isEmpty, "\(result)")
        let last = events.named("job.finished").first?["transferred"]?.int
        // The attempt after the first cut may survive the others by a further connection.
        #expect(last.map { $0 <= Self.size - 1 << 20 } == true, "\(result)")
    }

    @Test(arguments: FileServerKind.allCases) func aKilledProgramContinues(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.serve()
        // The file is long enough for a change that comes late on a busy machine.
        try bench.writeDownload(limit: 20, #""limitRate": "3M""#)
        for round in 1...2 {
            let process = try bench.place.startJobs()
            // The first 2 MiB may have no record.
            try await bench.waitForLocalPart(round * 5 << 19)
            process.kill(SIGKILL)
            #expect(try await process.result().signal == SIGKILL)
        }
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheDownload()
        let events = try result.events()
        #expect(events.named("job.restarted").isEmpty, "\(result)")
        let last = events.named("job.finished").first?["transferred"]?.int
        #expect(last.map { $0 <= Self.size - 4 << 20 } == true, "\(result)")
    }

    @Test(arguments: FileServerKind.allCases, [1_600_000_000, 1_700_000_000])
    func aFileThatChangedIsFetchedFromTheStartAndNeverMixed(_ kind: FileServerKind, _ time: Int) async throws {
        let bench = try await FileServerBench(kind, sendsSlowly: true)
        try bench.serve()
        try bench.writeDownload(limit: 0)
        let process = try bench.place.startJobs()
        // The cut comes early: a late cut may have no effect, as the kernel has the last bytes by then.
        try await bench.waitForLocalPart(1 << 19)
        bench.cut()
        #expect(try await process.result().exitCode == 1)
        // The new version has a different time, or a different length.
        let isSameTime = time == 1_600_000_000
        try bench.serve(isSameTime ? Self.size - 1 : Self.size, seed: 8, modified: TimeInterval(time))
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try result.events().named("job.restarted").count == 1, "\(result)")
        try bench.expectTheDownload()
    }

    @Test(arguments: FileServerKind.allCases) func anExistingFileIsNotFetchedAgain(_ kind: FileServerKind)
        async throws
    {
        let bench = try await FileServerBench(kind)
        // The file is large enough to bear a note of its source.
        try bench.serve(2_000_000)
        try bench.writeDownload()
        #expect(try await bench.place.runJobs().exitCode == 0)
        // A batch that knows nothing of the first one sends a query.
        try bench.writeDownload(#""ifExists": "update""#, name: "other")
        let result = try await bench.place.runJobs()
        #expect(try result.events().ends == ["f": "kept"], "\(result)")
        try bench.serve(2_000_000, seed: 8, modified: 1_700_000_000)
        try bench.writeDownload(#""ifExists": "update""#, name: "third")
        let changed = try await bench.place.runJobs()
        #expect(try changed.events().ends == ["f": "finished"], "\(changed)")
        try bench.expectTheDownload()
    }

    @Test(arguments: FileServerKind.allCases) func aFileThatIsNotThereFailsAtOnce(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeDownload()
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 1 && result.standardError.contains("404 Not Found, not retried"), "\(result)")
        #expect(!bench.place.folder.exists("g.part"))
    }
}
