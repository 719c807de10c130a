import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `put` with folders and with standard input.
@Suite(.timeLimit(.minutes(1))) struct PutFolderTests {
    private func filled() throws -> Workplace {
        let place = try Workplace()
        for name in ["out/a.txt", "out/sub dir/b.txt", "out/sub dir/c.log", "out/.hidden", "out/d.part"] {
            try place.folder.write(name, to: name)
        }
        return place
    }

    /// The rule is that of cp(1): a slash at the end means the content of the folder.
    @Test(arguments: [("out", "out/"), ("out/", ""), ("./out", "out/"), (".", "out/")])
    func aFolderIsSentWithItsWholeContent(argument: String, prefix: String) async throws {
        try await withTestServer { server in
            let place = try filled()
            let sink = server.acceptUploads("/in/*")
            let result = try await place.run("put", argument, server.url("/in/"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                Set(sink.uploads.map(\.path))
                    == [
                        "/in/\(prefix)a.txt", "/in/\(prefix)sub%20dir/b.txt", "/in/\(prefix)sub%20dir/c.log",
                        "/in/\(prefix).hidden", "/in/\(prefix)d.part",
                    ])
        }
    }

    @Test func patternsChooseAmongTheFiles() async throws {
        try await withTestServer { server in
            let place = try filled()
            let sink = server.acceptUploads("/in/*")
            let result = try await place.run(
                "put", "out/", server.url("/in/"), "--include", "**/*.txt", "--exclude", "a.*")
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.path) == ["/in/sub%20dir/b.txt"])
        }
    }

    @Test func aFolderNeedsAURLOfAFolder() async throws {
        let place = try filled()
        let result = try await place.run("put", "out", "http://127.0.0.1:9/in")
        #expect(result.exitCode == 64 && result.standardError.contains("a URL that ends in /"), "\(result)")
    }

    /// The input is kept until it has arrived: a stream cannot be read again.
    @Test func standardInputIsSentWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/f")
            server.script("/in/f", [.cutUpload(after: 10_000)])
            let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            var command = place.command(["put", "-", server.url("/in/f")])
            command.standardInput = .data(bytes)
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.last?.bytes == Array(bytes))
            #expect(try place.folder.files().filter { $0.contains("streams/") } == [])
            let twice = try await place.run("put", "-", "-", server.url("/in/f"), "--protocol", "multipart")
            #expect(twice.exitCode == 64 && twice.standardError.contains("standard input is one file"), "\(twice)")
            let nameless = try await place.run("put", "-", server.url("/in/"))
            #expect(nameless.exitCode == 64 && nameless.standardError.contains("has no name"), "\(nameless)")
        }
    }

    @Test func aNamedPipeIsSentWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/pipe")
            server.script("/in/pipe", [.cutUpload(after: 10_000)])
            try #require(mkfifo(place.folder.path("pipe"), 0o600) == 0)
            let process = try place.command(["put", "pipe", server.url("/in/")]).start()
            try place.folder.write(count: 200_000, seed: 3, to: "bytes")
            let writer = ChildProcess.Command(
                "/bin/sh", ["-c", "cat bytes > pipe"], workingFolder: place.folder.path)
            #expect(try await ChildProcess.start(writer).result().exitCode == 0)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: place.folder.path("bytes")))
            #expect(sink.uploads.last?.bytes == Array(bytes))
        }
    }
}
