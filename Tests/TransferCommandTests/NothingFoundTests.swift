import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Empty results, which are no success: each verb reports them, and its exit status is not 0.
@Suite(.timeLimit(.minutes(1))) struct NothingFoundTests {
    @Test(
        arguments: [
            (["status", "b"], 64), (["why", "b/j"], 64), (["wait", "b"], 64), (["verify", "b"], 66),
            (["retry", "b"], 64),
            (["pause", "b"], 64), (["resume", "b"], 64), (["cancel", "b"], 64), (["forget", "b"], 64),
            (["retry", "--all"], 64), (["pause", "--all"], 64), (["cancel", "--all"], 64), (["run", "empty.json"], 65),
            (["run", "empty.jsonl"], 65), (["run", "empty.txt"], 65), (["run", "empty.csv"], 65),
            (["get", "-i", "empty.txt"], 65), (["get", "-i", "empty.txt", "-n"], 65), (["validate", "empty.json"], 65),
            (["run", "empty.json", "-n"], 65), (["put", "folder/", "http://127.0.0.1:9/"], 1),
            (["run", "missing.json"], 66),
        ] as [([String], Int32)])
    func eachVerbReportsAnEmptyResult(_ words: [String], _ status: Int32) async throws {
        let place = try Workplace()
        try place.folder.write(#"{"version": 1, "jobs": []}"#, to: "empty.json")
        try place.folder.write("", to: "empty.jsonl")
        try place.folder.write("# nothing yet\n\n", to: "empty.txt")
        try place.folder.write("url,to\n", to: "empty.csv")
        _ = try place.folder.folder("folder")
        let result = try await place.command(words).run()
        #expect(result.exitCode == status && !result.standardError.isEmpty, "\(result)")
    }

    @Test func anEmptyStreamOfJobsIsAFailedJob() async throws {
        let place = try Workplace()
        var command = place.command(["run", "-", "--name", "b"])
        command.standardInput = .data(Data("\n# nothing\n".utf8))
        let result = try await command.run()
        #expect(result.exitCode == 1 && result.standardError.contains("there is no job in it"), "\(result)")
    }

    @Test func aBatchWithoutADownloadIsNotGood() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.jobs([download(server.url("/gone"), to: "f", #""id": "j""#)])
            #expect(try await place.runJobs().exitCode == 1)
            let result = try await place.run("verify", "batch")
            #expect(result.exitCode == 66 && result.standardOutput.contains("1 missing"), "\(result)")
            let none = try await place.run("retry", "batch/x")
            #expect(none.exitCode == 64 && none.standardError.contains("no job"), "\(none)")
        }
    }

    /// Output to a closed descriptor reaches no reader.
    @Test(arguments: ["status", "config", "validate jobs.json", "run jobs.json -n"])
    func aClosedOutputIsNoSuccess(_ words: String) async throws {
        let place = try Workplace()
        try place.jobs([download("http://127.0.0.1:9/f", to: "f")])
        let script = "exec \"$0\" \(words) >&-"
        let result = try await ChildProcess.start(
            ChildProcess.Command(
                "/bin/sh", ["-c", script, try TransferCommand.binary()], environment: ["HOME": place.folder.path("")],
                workingFolder: place.folder.path(""))
        ).result()
        #expect(result.exitCode == 74 && result.standardError.contains("standard output is incomplete"), "\(result)")
    }
}
