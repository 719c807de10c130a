import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Standard input, which is kept until it has arrived, and no longer than its job may need it.
@Suite(.timeLimit(.minutes(1))) struct SpoolTests {
    private func failed(_ place: Workplace, _ url: String) async throws -> ProcessResult {
        var command = place.command(["put", "-", url])
        command.standardInput = .data(Data("from a pipe".utf8))
        let result = try await command.run()
        #expect(result.exitCode == 1 && result.standardError.contains("standard input is kept in "), "\(result)")
        return result
    }

    private func spools(_ place: Workplace) throws -> [String] {
        try place.folder.files().filter { $0.contains("streams/input-") }
    }

    @Test func theSuggestedCommandSendsTheInputAndNothingStays() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/f")
            server.script("/in/f", [.status(403)])
            let result = try await failed(place, server.url("/in/f"))
            let words = try #require(
                result.standardError.firstMatch(of: #/; transfer (put .*) continues it/#)?.output.1)
            let again = try await place.command(words.split(separator: " ").map(String.init)).run()
            #expect(again.exitCode == 0, "\(words): \(again)")
            #expect(sink.uploads.last?.bytes == Array("from a pipe".utf8))
            #expect(try spools(place) == [])
        }
    }

    @Test(arguments: ["forget", "cancel"]) func theInputIsRemovedWithItsBatch(verb: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/in/f", [.status(403)])
            _ = try await failed(place, server.url("/in/f"))
            #expect(try !spools(place).isEmpty)
            let name = try #require(try await place.status().compactMap { $0["batch"]?.string }.first)
            if verb == "cancel" {
                #expect(try await place.run("retry", name).exitCode == 0)
            }
            let gone = try await place.run(verb, name)
            #expect(gone.exitCode == 0, "\(gone)")
            #expect(try spools(place) == [])
        }
    }

    /// A message about a file for standard output has the file's name, and not the path of its spool.
    @Test(arguments: [(["--retry", "0"], 404, "error x.iso: 404"), (["--verbose"], 200, "info x.iso: fetched")])
    func messagesNameTheFileOfTheURL(_ options: [String], _ status: Int, _ answer: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/x.iso", .text("x"))
            if status != 200 { server.script("/x.iso", [.status(status)]) }
            let result = try await place.command(["get", "-o", "-", server.url("/x.iso")] + options).run()
            #expect((result.exitCode == 0) == (status == 200), "\(result)")
            #expect(result.standardError.contains(answer), "\(result)")
            #expect(!result.standardError.contains("/streams/"), "\(result)")
        }
    }

    // MARK: After a kill

    private func streams(_ place: Workplace) throws -> [String] {
        try place.folder.files().filter { $0.contains("/streams/") }
    }

    private func kill(_ process: ChildProcess) async throws {
        process.kill(SIGKILL)
        _ = try? await process.result()
    }

    /// The input belongs to no batch: the next command that runs removes it.
    @Test func unfinishedStandardInputIsRemovedByTheNextStart() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            var command = place.command(["put", "-", server.url("/in/f")])
            command.standardInput = .open
            let process = try command.start()
            #expect(process.send(Data("the beginning".utf8)))
            try await until("it is being read") { try !streams(place).isEmpty }
            try await kill(process)
            #expect(try !streams(place).isEmpty)
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            #expect(try streams(place) == [])
        }
    }

    @Test func standardInputUnderWayIsRemovedWithItsBatch() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/in/f", [.holdHead])
            var command = place.command(["put", "-", server.url("/in/f")])
            command.standardInput = .data(Data("from a pipe".utf8))
            let process = try command.start()
            try await server.waitForHeld(1)
            try await kill(process)
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            #expect(try streams(place).contains { $0.hasSuffix(".batch") }, "its batch goes on with it")
            try await forget(place)
            #expect(try streams(place) == [])
        }
    }

    @Test(arguments: [[], ["--segments", "3"]]) func filesForStandardOutputAreRemovedWithTheirBatch(_ options: [String])
        async throws
    {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/big", .random(seed: 1, count: 8_000_000), etag: "\"1\"")
            server.script("/big", Array(repeating: .stall(after: 400_000), count: 8))
            let process = try place.command(["get", server.url("/big"), "-o", "-", "-q"] + options).start()
            try await until("bytes are kept") { try streams(place).contains { $0.hasSuffix(".part") } }
            try await kill(process)
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            #expect(try streams(place).contains { $0.hasSuffix(".part") }, "its batch goes on with it")
            try await forget(place)
            #expect(try streams(place) == [])
        }
    }

    /// Forgets the batch alone, by its name in `status`.
    private func forget(_ place: Workplace) async throws {
        for name in try await place.status().compactMap({ $0["batch"]?.string }) {
            let gone = try await place.run("forget", name)
            #expect(gone.exitCode == 0, "\(gone)")
        }
    }
}
