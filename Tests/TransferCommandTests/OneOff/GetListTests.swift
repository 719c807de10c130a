import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `get` with other inputs than URLs: lists, standard input and output, several sources of one file.
@Suite(.timeLimit(.minutes(1))) struct GetListTests {
    /// The list is accepted as by `wget -i` and `aria2c -i`: its settings for a file take precedence over options.
    @Test func aListOfURLsIsFetched() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b", "c"] { server.serve("/\(name)", .text(name)) }
            try place.folder.write("# mine\n\(server.url("/a"))\n\(server.url("/b"))\n  out=named\n", to: "list.txt")
            let result = try await place.run(
                "get", "-i", "list.txt", server.url("/c"), "-d", "in", "-H", "X-A: 1")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.files().filter { $0.hasPrefix("in/") }.sorted() == ["in/a", "in/c", "in/named"])
            #expect(server.requests.count == 3 && server.requests.allSatisfy { $0.headers["X-A"] == "1" })
        }
    }

    /// Lists are concatenated: a repeated line is one file, for each command that reads the list.
    @Test(arguments: [["get", "-i", "list.txt"], ["run", "list.txt"]])
    func aLineThatIsThereTwiceIsOneFile(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            let lines = ["a", "b", "a", "a"].map { server.url("/\($0)") }
            try place.folder.write(lines.joined(separator: "\n"), to: "list.txt")
            let result = try await place.command(arguments + ["--json"]).run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 2)
            #expect(try result.events().named("batch.finished").first?["jobs"]?.int == 2)
        }
    }

    @Test(arguments: [["get", "-"], ["get", "-i", "-"], ["get", "--input-file=-"]])
    func aListComesFromStandardInput(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            var command = place.command(arguments)
            command.standardInput = .data(Data("\(server.url("/a"))\n".utf8))
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("a") == "a")
        }
    }

    /// A fault that only shows when all jobs are together has its place, too; a fault of the command line has none.
    @Test(
        arguments: [
            (["-i", "one"], 65, "one:2:1: error: same destination as another job (line 1): a; "),
            (["-i", "one"], 65, "one: 1 error in 2 jobs; nothing was started"),
            (["-i", "two.jsonl"], 65, "two.jsonl:2:"),
            (["-i", "two.jsonl"], 65, "needs \"q\", which is not in this batch"),
            (["-i", "good", "-i", "one"], 65, "one:2:1: error: "),
            (["http://h/z", "-i", "one"], 65, "one:2:1: error: "),
            (["-i", "one", "-i", "three"], 65, "three:4:1: error: "),
            (["http://h/x", "http://h/y/x", "-i", "good"], 64, "same destination as another job: x"),
        ]) func aFaultOfSeveralLinesIsReportedWithItsFileAndLine(_ words: [String], _ status: Int, _ reported: String)
        async throws
    {
        let place = try Workplace()
        try place.folder.write("http://h/a\nhttp://g/a\n", to: "one")
        let needy = #"{"download": "http://h/b", "to": "x", "needs": ["q"]}"#
        try place.folder.write(#"{"version": 1}"# + "\n\(needy)\n", to: "two.jsonl")
        try place.folder.write("# more\nhttp://h/d\nhttp://h/e\nhttp://g/d\n", to: "three")
        try place.folder.write("http://h/g\n", to: "good")
        let result = try await place.command(["get"] + words).run()
        #expect(result.exitCode == Int32(status) && result.standardError.contains(reported), "\(result)")
    }

    @Test func aFaultInAListIsReportedWithItsLineAndNothingIsFetched() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.folder.write("\(server.url("/a"))\nnonsense\n", to: "list.txt")
            let result = try await place.run("get", "-i", "list.txt")
            #expect(result.exitCode == 65 && result.standardError.contains("list.txt:2:1:"), "\(result)")
            #expect(server.requests.isEmpty)
            let missing = try await place.run("get", "-i", "nowhere.txt")
            #expect(missing.exitCode == 66 && missing.standardError.contains("nowhere.txt"), "\(missing)")
        }
    }

    /// The reader of the pipe gets all of the right file, or nothing.
    @Test func standardOutputGetsAFileOnlyWhenItIsWholeAndProven() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 4, count: 300_000)
            server.serve("/a", content, etag: "\"1\"")
            server.script("/a", [.cut(after: 100_000)])
            let sum = try await digest("sha256", content.bytes())
            let good = try await place.run("get", "-o", "-", "--checksum", "sha-256=\(sum)", server.url("/a"))
            #expect(good.exitCode == 0, "\(good.standardError)")
            #expect(try await digest("sha256", Array(good.standardOutputData)) == sum)
            let wrong = String(repeating: "0", count: 64)
            let bad = try await place.run("get", "-o", "-", "--checksum", "sha256:\(wrong)", server.url("/a"))
            #expect(bad.exitCode == 1 && bad.standardOutputData.isEmpty, "\(bad.standardError)")
            #expect(try place.folder.files().filter { $0.contains("streams/output-") && !$0.contains(".") } == [])
        }
    }

    /// The second source continues where the first broke off.
    @Test func aFileHasSeveralSources() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/good/a", .text("hello"))
            let result = try await place.run(
                "get", server.url("/gone/a"), "--mirror", server.url("/good/a"), "-o", "a")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("a") == "hello")
        }
    }

    @Test func aRequestHasItsOptions() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle(nil, "/q") { request in
                Response(body: .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))"))
            }
            let posted = try await place.run("get", "--data", "a=b&c", "-o", "one", server.url("/q"))
            #expect(posted.exitCode == 0, "\(posted)")
            #expect(try place.folder.text("one") == "POST a=b&c")
            try place.folder.write("from a file\n", to: "body")
            let put = try await place.run("get", "-X", "PUT", "--data", "@body", "-o", "two", server.url("/q"))
            #expect(put.exitCode == 0, "\(put)")
            #expect(try place.folder.text("two") == "PUT from a file\n")
        }
    }

    /// The plan is printed; no request is sent and no file is written.
    @Test func aDryRunChangesNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("f", to: "f")
            let get = try await place.run("get", "-n", server.url("/a"), server.url("/b"))
            #expect(get.exitCode == 0 && get.standardOutput.contains("fetch  \(server.url("/b")) -> "), "\(get)")
            let put = try await place.run("put", "-n", "f", server.url("/in/"))
            #expect(put.exitCode == 0 && put.standardOutput.contains("-> \(server.url("/in/f"))"), "\(put)")
            #expect(server.requests.isEmpty)
            #expect(try place.traces() == ["f"])
        }
    }

    /// The default scheme is https; a file with the name is a file.
    @Test func aURLWithoutASchemeIsHTTPS() async throws {
        let place = try Workplace()
        let plan = try await place.run("get", "-n", "files.example/x.iso", "localhost/y", "10.0.0.1:8443/z")
        #expect(plan.exitCode == 0, "\(plan)")
        for url in ["https://files.example/x.iso", "https://localhost/y", "https://10.0.0.1:8443/z"] {
            #expect(plan.standardOutput.contains("fetch  \(url) -> "), "\(plan)")
        }
        try place.folder.write("x", to: "some.dir/x")
        for name in ["some.dir/x", "plain", "files.example"] {
            let result = try await place.run("get", "-n", name)
            #expect(result.exitCode == 64 && result.standardError.contains("unsupported URL"), "\(result)")
        }
    }

    @Test func aListOfChecksumsIsComparedWithTheFiles() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            try place.folder.write("\(try await digest("sha256", Array("a".utf8)))  a\n", to: "SUMS")
            let good = try await place.run("get", "--checksums", "SUMS", server.url("/a"))
            #expect(good.exitCode == 0, "\(good)")
            let absent = try await place.run("get", "--checksums", "SUMS", server.url("/b"))
            #expect(absent.exitCode == 64 && absent.standardError.contains("no checksum for"), "\(absent)")
            server.serve("/a", .text("another"))
            let bad = try await place.run("get", "--checksums", "SUMS", "-o", "x/a", server.url("/a"))
            #expect(bad.exitCode == 1 && bad.standardError.contains("sha256"), "\(bad)")
        }
    }
}
