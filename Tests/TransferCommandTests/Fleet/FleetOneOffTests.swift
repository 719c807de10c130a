import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer get` and `transfer put` with `--queue postgres://…`.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetOneOffTests {
    @Test func aWorkerFetchesTheFilesOfGetIntoItsFolder() async throws {
        try await withTestServer { server in
            server.serve("/a", .text("abc"))
            server.serve("/b", .text("defg"))
            let fleet = try await FleetPlace()
            let worker = try fleet.worker("w")
            let result = try await fleet.run("get", server.url("/a"), server.url("/b"), "-d", "isos", "--json")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().named("job.finished").count == 2, "\(result)")
            #expect(result.standardError.contains("2 jobs in postgres://"), "\(result)")
            #expect(try fleet.folder.text("w/isos/a") == "abc" && fleet.folder.text("w/isos/b") == "defg")
            #expect(!fleet.folder.exists("isos"), "nothing is written where the command runs")
            #expect(try await fleet.batch() == nil, "the batch is forgotten after a success")
            let named = try await fleet.run("get", server.url("/a"), "-o", "sub/c")
            #expect(try named.exitCode == 0 && fleet.folder.text("w/sub/c") == "abc", "\(named)")
            try await fleet.stop(worker)
        }
    }

    @Test func aFailureHasTheExitStatusOfARun() async throws {
        try await withTestServer { server in
            server.script("/gone", [], afterwards: .status(404))
            let fleet = try await FleetPlace()
            let worker = try fleet.worker("w")
            let result = try await fleet.run("get", server.url("/gone"))
            #expect(result.exitCode == 1 && result.standardError.contains("404"), "\(result)")
            #expect(try await fleet.batch()?["failed"]?.int == 1, "the batch stays, to be looked at")
            try await fleet.stop(worker)
        }
    }

    @Test func aWorkerSendsAFileOfItsFolderForPut() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/report.txt", answer: Response(status: 201))
            let fleet = try await FleetPlace()
            let worker = try fleet.worker("w")
            try fleet.folder.write("contents", to: "w/out/report.txt")
            let result = try await fleet.run("put", "out/report.txt", server.url("/in/"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.first.map { String(decoding: $0.bytes, as: UTF8.self) } == "contents")
            try await fleet.stop(worker)
        }
    }

    @Test(arguments: [
        (["get", "https://h.example/x", "-o", "-"], "not standard input or output"),
        (["get", "https://h.example/x", "-j", "3"], "transfer work takes that"),
        (["get", "https://h.example/x", "--on-finish", "true"], "workers refuse"),
        (["put", "-", "https://h.example/x"], "not standard input or output"),
        (["put", "folder/", "https://h.example/x/"], "folders are not read"),
    ]) func optionsOfThisProcessAreRefused(arguments: [String], words: String) async throws {
        let place = try Workplace("fleet-one-off")
        let result = try await place.command(arguments + ["--queue", "postgres://h.example/x"]).run()
        #expect(result.exitCode == 64 && result.standardError.contains(words), "\(result)")
    }

    @Test func aSecretInTheURLIsRefused() async throws {
        let fleet = try await FleetPlace()
        let result = try await fleet.run("get", "https://h.example/x?X-Amz-Signature=0123456789abcdef0123")
        #expect(result.exitCode == 65 || result.exitCode == 64, "\(result)")
        #expect(!result.standardError.contains("0123456789abcdef0123"), "\(result)")
        #expect(try await fleet.batch() == nil)
    }
}
