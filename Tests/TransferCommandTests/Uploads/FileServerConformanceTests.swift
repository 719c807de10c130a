import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// The guarantees of uploads to file servers, by the command, against OpenSSH, vsftpd and pyftpdlib. The cases are
/// those of the conformance suite, but the server's connections are cut instead of a relay's, as FTP's files have
/// connections of their own.
/// The cases run one after the other: each starts servers and programs of its own.
@Suite(.serialized, .enabled(if: FileServerKind.isWanted), .timeLimit(.minutes(3)))
struct FileServerConformanceTests {
    private static let size = FileServerBench.size

    @Test(arguments: FileServerKind.allCases) func arrivesWhole(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload()
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
        // The second run finds the file complete, and the server is not asked.
        let connections = bench.relay.connectionCount
        #expect(try await bench.place.runJobs().exitCode == 0)
        #expect(bench.relay.connectionCount == connections)
        // A new version replaces the first one.
        try bench.writeUpload(seed: 8)
        let second = try await bench.place.runJobs()
        #expect(second.exitCode == 0, "\(second)")
        try bench.expectTheFileOnce()
    }

    /// No file is queried, renamed or removed: an account that may only store needs no further right.
    @Test(arguments: FileServerKind.allCases) func anUploadInPlaceOnlyStores(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        _ = try bench.makeFolder("")
        try bench.writeUpload(300_000, #""inplace": true"#)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
        guard kind != .sftp else { return }
        #expect(bench.commands("STOR") == 1)
        for command in ["SIZE", "RNFR", "DELE", "APPE", "MKD"] {
            #expect(bench.commands(command) == 0, "\(command)")
        }
        // The next version overwrites it.
        try bench.writeUpload(200_000, seed: 8, #""inplace": true"#)
        #expect(try await bench.place.runJobs().exitCode == 0)
        try bench.expectTheFileOnce()
    }

    @Test(arguments: [FileServerKind.sftp, .ftp]) func inPlaceABreakSendsTheWholeAgain(_ kind: FileServerKind)
        async throws
    {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload(FileServerBench.size, #""inplace": true"#)
        let process = try bench.place.startJobs()
        try await until("bytes under its name") { bench.size(of: "f") > 1 << 20 }
        #expect(bench.names() == ["f"])
        bench.cut()
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
        let restarts = try result.events().named("job.restarted")
        #expect(restarts.count == 1 && "\(restarts)".contains("may be there under its name already"), "\(result)")
    }

    @Test(arguments: FileServerKind.allCases) func anEmptyFileArrives(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload(0)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
    }

    /// The upload ends, and begins nothing anew: the sent bytes wait for their name.
    @Test(arguments: FileServerKind.allCases) func aFolderAtItsPathIsReportedOnce(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload(300_000)
        let folder = try bench.makeFolder("f")
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 1, "\(result)")
        let failure = try result.events().named("job.failed").first?["message"]?.string ?? ""
        #expect(failure.contains("does not give the file its name") && failure.contains("a folder"), "\(result)")
        #expect(bench.partSize() == 300_000 && bench.names().count == 2)
        try FileManager.default.removeItem(atPath: folder)
        let again = try await bench.place.runJobs()
        #expect(again.exitCode == 0, "\(again)")
        #expect(try again.events().named("job.finished").first?["transferred"]?.int == 0)
        try bench.expectTheFileOnce()
    }

    @Test(arguments: FileServerKind.allCases) func resumesWhereItWasCut(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload()
        let process = try bench.place.startJobs()
        for round in 1...3 {
            try await bench.waitForPart(round * 3 << 19)
            bench.cut()
        }
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
        let events = try result.events()
        #expect(events.named("job.retrying").count == 3 && events.named("job.restarted").isEmpty, "\(result)")
        // The last attempt sent only the missing bytes.
        let last = events.named("job.finished").first?["transferred"]?.int
        #expect(last.map { $0 <= Self.size - 4 << 20 } == true, "\(result)")
        #expect(kind != .sftp || bench.relay.bytesUp < Int64(Self.size) * 3 / 2, "\(bench.relay.bytesUp)")
        // One STOR may be refused before any byte: a folder is created, and entered, only where it is missing.
        #expect(kind == .sftp || ((1...2).contains(bench.commands("STOR")) && bench.commands("APPE") == 3))
    }

    /// The server has given the file its name, and its answer is lost.
    @Test(arguments: FileServerKind.allCases) func aLostFinalAnswerSendsNothingAgain(_ kind: FileServerKind)
        async throws
    {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload(300_000)
        bench.relay.delayAnswers(milliseconds: 100)
        let process = try bench.place.startJobs()
        try await bench.waitForPart(300_000)
        // The remaining queries and answers take several delays; the last answer has the time that this test needs.
        bench.relay.delayAnswers(milliseconds: 500)
        try await until("the file to have its name") { bench.names().contains("f") }
        let connections = bench.relay.connectionCount
        bench.relay.cutAll()
        bench.relay.delayAnswers(milliseconds: 0)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
        let events = try result.events()
        // The query came over a new connection, by the next attempt or, where libcurl had asked twice, by the same one.
        #expect(bench.relay.connectionCount > connections && events.named("job.restarted").isEmpty, "\(result)")
        #expect(kind != .sftp || bench.relay.bytesUp < 450_000, "it was sent again: \(bench.relay.bytesUp)")
        #expect(kind == .sftp || ((1...2).contains(bench.commands("STOR")) && bench.commands("APPE") == 0))
    }

    @Test(arguments: FileServerKind.allCases)
    func anUploadForgottenByTheServerIsSentFromTheStart(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try await cutOnce(bench)
        try bench.removeParts()
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try result.events().named("job.restarted").count == 1, "\(result)")
        try bench.expectTheFileOnce()
    }

    @Test(arguments: FileServerKind.allCases)
    func aSourceThatChangedIsSentFromTheStartAndNeverMixed(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try await cutOnce(bench)
        try bench.place.folder.write(count: Self.size, seed: 8, to: "f")
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        // The partial file of the other version is gone too.
        try bench.expectTheFileOnce()
    }

    @Test(arguments: [FileServerKind.sftp, .ftp])
    func aChangedSourceFailsOnRequest(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try await cutOnce(bench, #""ifChanged": "fail""#)
        try bench.place.folder.write(count: Self.size, seed: 8, to: "f")
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 1 && result.standardError.contains("changed since its upload began"), "\(result)")
        #expect(!bench.names().contains("f"))
    }

    private func cutOnce(_ bench: FileServerBench, _ more: String = "") async throws {
        try bench.writeUpload(limit: 0, more)
        let process = try bench.place.startJobs()
        try await bench.waitForPart(2 << 20)
        bench.cut()
        #expect(try await process.result().exitCode == 1)
    }

    @Test(arguments: FileServerKind.allCases) func aKilledProgramContinues(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload()
        for round in 1...2 {
            let process = try bench.place.startJobs()
            try await bench.waitForPart(round << 21)
            process.kill(SIGKILL)
            #expect(try await process.result().signal == SIGKILL)
        }
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try bench.expectTheFileOnce()
        let events = try result.events()
        #expect(events.named("job.restarted").isEmpty, "\(result)")
        #expect(events.named("job.finished").first?["transferred"]?.int.map { $0 <= Self.size - 4 << 20 } == true)
        #expect(kind == .sftp || (1...2).contains(bench.commands("STOR")))
    }

    @Test(arguments: FileServerKind.allCases)
    func aCancelledUploadIsTakenFromTheServer(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        try bench.writeUpload()
        let process = try bench.place.startJobs()
        try await bench.waitForPart(1 << 20)
        #expect(try await bench.place.run("cancel", "batch/f").exitCode == 0)
        let result = try await process.result()
        #expect(try result.events().ends == ["f": "cancelled"], "\(result)")
        #expect(bench.names() == [])
    }

    /// FTP's reply is 502: the server does not know APPE.
    @Test func aServerThatCantAppendGetsTheWholeAgain() async throws {
        var options = FTPServer.Options()
        options.lacks = ["APPE"]
        let server = try await FTPServer.start(options)
        let place = try Workplace("files")
        try place.folder.write(count: Self.size, seed: 7, to: "f")
        try place.jobs(
            [upload("f", to: server.url("/f"), #""id": "f""#)],
            extra: #""defaults": {"limitRate": "4M", "retry": {"scale": "50ms", "jitter": false}}, "#)
        let process = try place.startJobs()
        let names = { (try? FileManager.default.contentsOfDirectory(atPath: server.root)) ?? [] }
        let size = {
            names().first.flatMap { try? Data(contentsOf: URL(fileURLWithPath: server.root + "/" + $0)).count } ?? 0
        }
        try await until("a part") { size() > 1 << 20 }
        server.cut()
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        let reason = try result.events().named("job.restarted").first?["reason"]?.string ?? ""
        #expect(reason.contains("cannot continue a file") && reason.contains("502"), "\(result)")
        let isSame = try Data(contentsOf: URL(fileURLWithPath: server.root + "/f")) == place.folder.data("f")
        #expect(isSame && names() == ["f"])
    }
}
