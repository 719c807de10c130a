import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// The programs in `examples/`, run as a user would run them.
@Suite struct ExampleTests {
    private func run(_ name: String, _ arguments: [String], in folder: TemporaryFolder) async throws -> ProcessResult {
        let program = try TransferCommand.builtProduct(name)
        return try await ChildProcess.start(
            ChildProcess.Command(program, arguments, workingFolder: folder.path)
        ).result()
    }

    @Test func theQueueProgramFetchesWhatItSubmitsAndKeepsItTheNextTime() async throws {
        try await withTestServer { server in
            let folder = try TemporaryFolder("example")
            server.serve("/a.txt", .text("a"), etag: "\"1\"")
            let arguments = [folder.path("state"), folder.path("files"), server.url("/a.txt")]
            let first = try await run("queue-program", arguments, in: folder)
            #expect(first.exitCode == 0, "\(first)")
            #expect(try folder.text("files/a.txt") == "a")
            let second = try await run("queue-program", arguments, in: folder)
            #expect(second.exitCode == 0, "\(second)")
            #expect(server.requests.count == 1)
        }
    }

    @Test func theWatchProgramUploadsEachFileOnceAlsoWhenItIsKilled() async throws {
        try await withTestServer { server in
            let folder = try TemporaryFolder("example")
            let sink = server.acceptUploads("/in/*")
            var command = ChildProcess.Command(
                try TransferCommand.builtProduct("watch-program"),
                [folder.path("state"), "out", server.url("/in/{path}")], workingFolder: folder.path)
            command.standardInput = .open
            try folder.write("one", to: "out/a.txt")
            let first = try ChildProcess.start(command)
            try await first.line(.standardOutput) { $0 == "uploaded a.txt" }
            first.kill(SIGKILL)
            _ = try await first.result()
            try folder.write("two", to: "out/sub/b.txt")
            let second = try ChildProcess.start(command)
            try await second.line(.standardOutput) { $0 == "uploaded sub/b.txt" }
            second.closeStandardInput()
            let result = try await second.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.path) == ["/in/a.txt", "/in/sub/b.txt"])
        }
    }

    /// Foundation would make folders there for every configuration.
    @Test func aPlainRequestMakesNothingInTheHomeFolder() async throws {
        try await withTestServer { server in
            let folder = try TemporaryFolder("home")
            server.serve("/x", .text("x"))
            var command = ChildProcess.Command(
                try TransferCommand.builtProduct("request-load"), ["plain", server.url("/x")],
                workingFolder: folder.path)
            command.environment["HOME"] = folder.path
            for name in ["XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] { command.environment[name] = nil }
            let result = try await ChildProcess.start(command).result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func theResumableDownloadResumesWhereItWasStopped() async throws {
        try await withTestServer { server in
            let folder = try TemporaryFolder("example")
            let content = Content.random(seed: 3, count: 4_000_000)
            server.serve("/x.bin", ServedFile(content, etag: "\"1\""))
            // The server stalls in the middle, so that the download can be stopped halfway.
            server.script("/x.bin", [.stall(after: 3_000_000)])
            let url = server.url("/x.bin")
            let stopped = try await run("resumable-download", [url, "x.bin", "--stop-at", "50"], in: folder)
            #expect(stopped.exitCode == 75, "\(stopped)")
            let continued = try await run("resumable-download", [url, "x.bin"], in: folder)
            #expect(continued.exitCode == 0, "\(continued)")
            #expect(server.requests.last?.range != nil)
            let difference = try content.firstDifference(fromFileAt: folder.path("x.bin"))
            #expect(difference == nil)
        }
    }
}
