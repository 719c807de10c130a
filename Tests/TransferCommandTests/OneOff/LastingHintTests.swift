import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Suggested commands of a run, which mean its batch at any later time, whatever other batches come or go.
@Suite(.timeLimit(.minutes(1))) struct LastingHintTests {
    /// Returns the suggestion with this label at a run's end, as a shell reads it.
    private static func reported(_ result: ProcessResult, _ label: String) throws -> String {
        let lines = result.standardError.split(separator: "\n").map(String.init)
        let line = try #require(lines.first { $0.contains(label) }, "\(result)")
        return String(line[try #require(line.range(of: label)).upperBound...].drop { $0 == " " })
    }

    /// Runs a suggested command through a shell.
    private static func paste(_ command: String, _ place: Workplace) async throws -> ProcessResult {
        let words = command.split(separator: " ").map(String.init)
        #expect(words.first == "transfer" && !command.contains("'"), "\(command)")
        return try await place.command(Array(words.dropFirst())).run()
    }

    @Test func theSuggestionOfOneGetHoldsDespiteOtherBatches() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            var commands: [(list: String, again: String)] = []
            for path in ["/a", "/b"] {
                let result = try await place.run("get", server.url(path))
                #expect(result.exitCode == 1, "\(result)")
                commands.append((try Self.reported(result, "List:"), try Self.reported(result, "Again:")))
            }
            func lists(_ index: Int, _ path: String) async throws {
                let list = try await Self.paste(commands[index].list + " --jobs", place)
                #expect(list.exitCode == 0 && list.standardOutput.contains(server.url(path)), "\(list)")
                let other = path == "/a" ? "/b" : "/a"
                #expect(!list.standardOutput.contains(server.url(other)), "\(list)")
            }
            try await lists(0, "/a")
            try await lists(1, "/b")
            // The first command again is the same batch; the second batch is forgotten when it is complete.
            #expect(try await place.run("get", server.url("/a")).exitCode == 1)
            server.serve("/b", .text("b"))
            #expect(try await Self.paste(commands[1].again, place).exitCode == 0)
            #expect(try await place.run("get", server.url("/b")).exitCode == 0)
            try await lists(0, "/a")
            let gone = try await Self.paste(commands[1].list, place)
            #expect(gone.exitCode == 64 && gone.standardError.contains("any more"), "\(gone)")
            // The first batch is forgotten by hand; a later command for that server is a new batch.
            let forgotten = try await Self.paste(
                commands[0].list.replacing("status", with: "forget").replacing(" --failed", with: ""), place)
            #expect(forgotten.exitCode == 0, "\(forgotten)")
            #expect(try await place.run("get", server.url("/c")).exitCode == 1)
            for command in commands.flatMap({ [$0.list, $0.again] }) {
                let result = try await Self.paste(command, place)
                #expect(result.exitCode == 64 && result.standardError.contains("any more"), "\(command): \(result)")
            }
        }
    }

    /// A job file without a name is identified by its path, even when a second folder has a file of that name.
    @Test func theSuggestionOfOneJobFileHoldsDespiteOtherBatches() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            var lists: [String] = []
            for (folder, path) in [("one", "/a"), ("two", "/b")] {
                try place.folder.write(
                    #"{"version": 1, "jobs": [\#(download(server.url(path), to: folder + ".bin"))]}"#,
                    to: "\(folder)/mirror.json")
                let result = try await place.run("run", "\(folder)/mirror.json")
                #expect(result.exitCode == 1, "\(result)")
                lists.append(try Self.reported(result, "List:"))
            }
            for (list, path) in zip(lists, ["/a", "/b"]) {
                let result = try await Self.paste(list + " --jobs", place)
                #expect(result.exitCode == 0 && result.standardOutput.contains(server.url(path)), "\(result)")
            }
            #expect(try await place.run("forget", "two/mirror").exitCode == 0)
            #expect(try await Self.paste(lists[0] + " --jobs", place).standardOutput.contains(server.url("/a")))
            #expect(try await Self.paste(lists[1], place).exitCode == 64)
        }
    }

    @Test func whyReportsACompleteBatchAsForgotten() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            let result = try await place.run("get", server.url("/a"), "--json")
            let finished = try #require(try result.events().named("job.finished").first)
            let batch = try #require(finished["batch"]?.string)
            let job = try #require(finished["id"]?.string)
            let last = server.url("/a").split(separator: "/")[1]
            for name in [batch, "get-\(last)-1", "get-\(last)"] {
                let why = try await place.run("why", "\(name)/\(job)")
                #expect(why.exitCode == 64, "\(why)")
                #expect(why.standardError.contains("any more") && why.standardError.contains("forgotten"), "\(why)")
            }
            let other = try await place.run("why", "nightly/x")
            #expect(other.standardError.contains("no batch \"nightly\"; "), "\(other)")
        }
    }
}
