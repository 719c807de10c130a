import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Lists with repeated names, and destinations with placeholders.
@Suite(.timeLimit(.minutes(1))) struct CollidingNamesTests {
    private static let paths = ["/x/f.bin", "/y/f.bin", "/z/f.bin"]

    private func serve(_ server: TestServer) { for path in Self.paths { server.serve(path, .text(path)) } }

    @Test(arguments: [["get", "-i", "list.txt"], ["run", "list.txt"]])
    func repeatedNamesAreRefusedWithARemedyOrNumbered(command: [String]) async throws {
        try await withTestServer { server in
            serve(server)
            let place = try Workplace()
            try place.folder.write(Self.paths.map(server.url).joined(separator: "\n"), to: "list.txt")
            let refused = try await place.command(command).run()
            #expect(refused.exitCode != 0 && refused.standardError.contains("--collisions rename"), "\(refused)")
            #expect(server.requests.isEmpty)
            let renamed = try await place.command(command + ["--collisions", "rename"]).run()
            #expect(renamed.exitCode == 0, "\(renamed)")
            #expect(try ["f.bin", "f-2.bin", "f-3.bin"].map(place.folder.text) == Self.paths)
        }
    }

    /// The names are those of the first run, so that existing files are recognised.
    @Test(arguments: ["rename", "path"]) func theSameListAgainRepeatsNothing(rule: String) async throws {
        try await withTestServer { server in
            serve(server)
            let place = try Workplace()
            try place.folder.write(Self.paths.map(server.url).joined(separator: "\n"), to: "list.txt")
            let first = try await place.run("run", "list.txt", "--collisions", rule)
            let files = try place.folder.files().filter { $0.hasSuffix(".bin") }
            let again = try await place.run("run", "list.txt", "--collisions", rule)
            #expect(first.exitCode == 0 && again.exitCode == 0, "\(first) \(again)")
            #expect(server.requests.count == 3)
            #expect(try place.folder.files().filter { $0.hasSuffix(".bin") } == files && files.count == 3)
        }
    }

    /// Lines of a stream are accepted one by one, and each is compared with the earlier ones.
    @Test func theLinesOfAStreamAreComparedWithEachOther() async throws {
        try await withTestServer { server in
            serve(server)
            let place = try Workplace()
            let lines = Self.paths.map { #"{"download": "\#(server.url($0))", "to": "f"}"# }
            var command = place.command(["run", "-", "--name", "s", "--collisions", "rename"])
            command.standardInput = .data(Data(lines.joined(separator: "\n").utf8))
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try ["f", "f-2", "f-3"].map(place.folder.text) == Self.paths)
            var plain = place.command(["run", "-", "--name", "t"])
            plain.standardInput = .data(Data((lines + [lines[0]]).joined(separator: "\n").utf8))
            let refused = try await plain.run()
            #expect(refused.exitCode == 1 && refused.standardError.contains("line 2"), "\(refused)")
            #expect(refused.standardError.contains("same destination as an earlier job"), "\(refused)")
        }
    }

    @Test func theFilesOfAListGoToThePathsOfTheirURLs() async throws {
        try await withTestServer { server in
            serve(server)
            let place = try Workplace()
            try place.folder.write(Self.paths.map(server.url).joined(separator: "\n"), to: "list.txt")
            let result = try await place.run("get", "-i", "list.txt", "-o", "in/{path}")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try ["in/x/f.bin", "in/y/f.bin", "in/z/f.bin"].map(place.folder.text) == Self.paths)
            let numbered = try await place.run(
                "get", server.url("/x/f.bin"), server.url("/y/f.bin"), "-o", "{n:03}.{ext}")
            #expect(numbered.exitCode == 0, "\(numbered)")
            #expect(try ["001.bin", "002.bin"].map(place.folder.text) == ["/x/f.bin", "/y/f.bin"])
        }
    }

    @Test func aPlanHasTheNamesThatARunGives() async throws {
        let place = try Workplace()
        try place.folder.write("https://a.example/f\nhttps://b.example/f\n", to: "list.txt")
        for command in [["get", "-n", "-i", "list.txt"], ["run", "-n", "list.txt"]] {
            let plan = try await place.command(command + ["--collisions", "path"]).run()
            #expect(plan.exitCode == 0 && plan.standardOutput.contains("https://b.example/f -> b.example/f"), "\(plan)")
        }
    }

    @Test(arguments: [
        (["get", "-o", "{nmae}", "https://h.example/a"], "{name}"),
        (["get", "-o", "plain", "https://h.example/a", "https://h.example/b"], "--output"),
        (["get", "--collisions", "number", "https://h.example/a"], "--collisions"),
        (["run", "--format", "xml", "x"], "--format"),
    ])
    func invalidArgumentsAreReported(arguments: [String], words: String) async throws {
        let place = try Workplace()
        defer { withExtendedLifetime(place) {} }
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains(words), "\(result)")
    }
}
