import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Metalinks as the input of `run` and `get`: files and URLs.
@Suite(.timeLimit(.minutes(1))) struct MetalinkRunTests {
    private let type = "application/metalink4+xml"

    private func metalink(_ files: String) -> String {
        "<?xml version='1.0'?>\n<metalink xmlns='urn:ietf:params:xml:ns:metalink'>\(files)</metalink>\n"
    }

    /// Returns a Metalink of two files. The first source is dead; the digest is of the file.
    private func two(_ server: TestServer) async throws -> String {
        let sum = try await digest("sha256", Array("hello".utf8))
        return metalink(
            """
            <file name='in/a'><size>5</size><hash type='sha-256'>\(sum)</hash><url priority='2'>\(server.url("/a"))</url>\
            <url priority='1'>\(server.url("/gone"))</url></file>
            <file name='b'><url>\(server.url("/b"))</url></file>
            """)
    }

    @Test(arguments: [["run", "x.meta4"], ["get", "x.meta4"], ["get", "-i", "list"], ["run", "list"]])
    func filesOfAMetalinkAreFetched(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            server.serve("/b", .text("b"))
            try place.folder.write(try await two(server), to: "x.meta4")
            try place.folder.write(try await two(server), to: "list")
            let result = try await place.command(arguments).run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("in/a") == "hello" && place.folder.text("b") == "b")
        }
    }

    @Test(arguments: ["get", "run"])
    func aMetalinkAtAURLIsFetchedAndFollowed(verb: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            server.serve("/b", .text("b"))
            server.serve("/x.meta4", .text(try await two(server)))
            let result = try await place.command([verb, server.url("/x.meta4?v=1"), "-d", "d"]).run()
            #expect(result.exitCode == 0, "\(result)")
            let found = try place.folder.files(below: "d")
            #expect(found.sorted() == ["b", "in/a"].sorted())
            let missing = try await place.command([verb, server.url("/no.meta4")]).run()
            #expect(missing.exitCode == 66 && missing.standardError.contains("404"), "\(missing)")
        }
    }

    /// The media type decides where the name does not.
    @Test func aMetalinkInPlaceOfAFileIsFollowed() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            let text = metalink("<file name='named'><url>\(server.url("/a"))</url></file>")
            server.serve("/download", ServedFile(.text(text), contentType: type))
            let result = try await place.run("get", server.url("/download"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("named") == "hello" && !place.folder.exists("download"))
            let output = try await place.run("get", "-o", "-", server.url("/download"))
            #expect(output.exitCode == 0 && output.standardOutput == "hello", "\(output)")
            let plain = try await place.run("get", "--no-metalink", "-o", "plain", server.url("/download"))
            #expect(plain.exitCode == 0, "\(plain)")
            #expect(try place.folder.text("plain") == text)
        }
    }

    @Test func oneFileMayHaveAnotherNameAndSeveralMayNot() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            server.serve("/b", .text("b"))
            try place.folder.write(try await two(server), to: "two.meta4")
            try place.folder.write(metalink("<file name='a'><url>\(server.url("/a"))</url></file>"), to: "one.meta4")
            let one = try await place.run("get", "one.meta4", "-o", "other")
            #expect(one.exitCode == 0, "\(one)")
            #expect(try place.folder.text("other") == "hello")
            let two = try await place.run("get", "two.meta4", "-o", "other")
            #expect(two.exitCode == 65 && two.standardError.contains("two.meta4:"), "\(two)")
            let sum = try await place.run("get", "one.meta4", "--checksum", "md5:\(String(repeating: "0", count: 32))")
            #expect(sum.exitCode == 64 && sum.standardError.contains("Metalink"), "\(sum)")
        }
    }

    @Test func aFaultHasItsLineAndColumnAndNothingIsFetched() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            try place.folder.write(
                metalink(
                    "<file name='a'><url>\(server.url("/a"))</url></file>\n<file name='../../x'><url>\(server.url("/a"))</url></file>"
                ),
                to: "x.meta4")
            let result = try await place.run("run", "x.meta4")
            #expect(result.exitCode == 65 && result.standardError.contains("x.meta4:3:7: error: the name \"../../x\""))
            try place.folder.write("<!DOCTYPE m [<!ENTITY a \"aaaa\">]><m>&a;</m>", to: "y.meta4")
            let bomb = try await place.run("validate", "y.meta4")
            #expect(bomb.exitCode == 65 && bomb.standardError.contains("y.meta4:1:13:"), "\(bomb)")
            #expect(server.requests.isEmpty)
        }
    }

    /// A wrong piece makes the file wrong.
    @Test func piecesOfAMetalinkVerifyTheFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            let (first, second) = (
                try await digest("sha1", Array("hel".utf8)), try await digest("sha1", Array("xx".utf8))
            )
            try place.folder.write(
                metalink(
                    "<file name='a'><url>\(server.url("/a"))</url><pieces length='3' type='sha-1'><hash>\(first)</hash><hash>\(second)</hash></pieces></file>"
                ), to: "x.meta4")
            let result = try await place.run("run", "x.meta4")
            #expect(result.exitCode == 1 && result.standardError.contains("sha1"), "\(result)")
            #expect(!place.folder.exists("a"))
        }
    }

    @Test func aListOfChecksumsMayHaveAURL() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            server.serve("/SUMS", .text("\(try await digest("sha256", Array("a".utf8)))  a\n"))
            try place.jobs(
                [download(server.url("/a"), to: "a")], extra: #""defaults": {"checksums": "\#(server.url("/SUMS"))"}, "#
            )
            let good = try await place.runJobs()
            #expect(good.exitCode == 0, "\(good)")
            #expect(try good.events().named("job.finished").first?["digest"]?.string?.hasPrefix("sha256:") == true)
            let get = try await place.run("get", "--checksums", server.url("/SUMS"), "-d", "d", server.url("/a"))
            #expect(get.exitCode == 0, "\(get)")
            let absent = try await place.run("get", "--checksums", server.url("/SUMS"), server.url("/b"))
            #expect(absent.exitCode == 64 && absent.standardError.contains("no checksum for"), "\(absent)")
        }
    }
}
