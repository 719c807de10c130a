import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Words of other tools' command lines that cannot be taken are named at once, before any request.
@Suite(.timeLimit(.minutes(2))) struct FrontRefusalTests {
    /// A command line, and the parts of the answer.
    static let lines: [(String, [String])] = [
        ("curl -I -d x URL", ["curl -I: a request asks for the head, or has a body"]),
        ("curl -i -T f URL", ["curl -T: a job sends or continues a file"]),
        ("curl -i -C - -O URL", ["curl -C: a job sends or continues a file"]),
        ("curl -OJi URL", ["curl -J: only a job takes the server's name"]),
        ("curl -i ftp://a.example/x", ["only HTTP has such an answer"]),
        (
            "curl --max-filesize 9 -fsSLO URL",
            ["curl --max-filesize: nothing bounds", "Here:    transfer curl -fsSLO URL"]
        ),
        ("curl -r x -O URL", ["curl -r: a range is written FIRST-LAST"]),
        ("curl -s -w %{json} URL", ["curl -w: %{json} has no equivalent", "Here:    transfer curl -s URL"]),
        ("curl -f --fail-with-body URL", ["not both"]),
        ("curl --retry-max-time 3 -O URL", ["--retry-max-time: attempts are", "Here:    transfer curl -O URL"]),
        ("curl -K files.curl", ["Here:    transfer get -i files.curl --format curl"]),
        ("curl --resolve a:1:b URL", ["curl --resolve: names are resolved"]),
        ("curl --reslove a:1:b URL", ["did you mean --resolve?"]),
        ("curl -X HEAD URL", ["-I asks for the head alone"]),
        ("curl -C 100 -O URL", ["curl -C: where a file continues"]),
        ("curl -O http://a.example/", ["-o FILE names one"]),
        ("curl -o x", ["no URL goes with these options"]),
        ("curl dict://a.example/d:x", ["unsupported scheme"]),
        ("curl -T f -d x URL", ["an upload sends its file"]),
        (
            "curl --max-filesize 10 --libcurl f URL",
            ["--max-filesize: nothing bounds", "--libcurl: no source of a program"]
        ),
        ("curl", ["no URL is named"]),
        ("wget -r URL", ["wget -r: web sites are not copied"]),
        ("wget -mpEk URL", ["wget -m: web sites", "wget -p: web sites", "wget -E: web sites", "wget -k: web sites"]),
        ("wget --spider --post-data=x URL", ["--spider: only HTTP is asked, without a body"]),
        ("wget --cut-dirs=x URL", ["--cut-dirs: it takes a whole number"]),
        ("wget --retry-on-http-error=x URL", ["--retry-on-http-error: it takes statuses"]),
        ("wget -b URL", ["wget -b: `nohup`", "Here:    transfer wget URL"]),
        ("wget -o log URL", ["wget -o: 2> FILE", "Here:    transfer wget URL"]),
        ("wget -O x URL URL", ["wget -O x: one file would get all"]),
        ("wget --tires=3 URL", ["did you mean --tries?"]),
        ("wget", ["no URL is named"]),
        ("aria2c magnet:?xt=urn:btih:0", ["torrents are not fetched"]),
        ("aria2c x.torrent", ["torrents are not fetched"]),
        ("aria2c --enable-rpc", ["`transfer serve`"]),
        ("aria2c http://a.example/x.meta4", ["Here:    transfer get http://a.example/x.meta4"]),
        ("aria2c -D URL", ["aria2c -D: `nohup`", "Here:    transfer aria2c URL"]),
        ("aria2c a.example/x", ["not a URL"]),
        ("aria2c", ["no URL is named"]),
    ]

    @Test(arguments: lines.indices) func eachWordIsNamedWithItsReason(_ index: Int) async throws {
        let (line, answers) = Self.lines[index]
        try await withTestServer { server in
            server.serve("/x", .text("x"))
            let place = try Workplace()
            try place.folder.write("f", to: "f")
            let url = server.url("/x")
            let words = line.split(separator: " ").map { $0 == "URL" ? url : String($0) }
            let result = try await place.command(words).run()
            #expect(result.exitCode == 64, "\(line): \(result)")
            #expect(server.requests.isEmpty, "\(line)")
            for answer in answers {
                let said = answer.hasPrefix("Here:") ? answer.replacing(" URL", with: " \(url)") : answer
                #expect(result.standardError.contains(said), "\(line): \(result.standardError)")
            }
        }
    }

    @Test(arguments: ["curl", "wget", "aria2c"]) func aFrontHasItsHelp(_ tool: String) async throws {
        let result = try await Workplace().run(tool, "--help")
        #expect(result.exitCode == 0 && result.standardOutput.contains("alias \(tool)='transfer \(tool)'"), "\(result)")
    }

    /// A secret on the command line appears in no message and in no file of the queue, also when the job fails.
    @Test(arguments: [
        ["curl", "-u", "me:hunter2", "-f", "-o", "x"], ["curl", "-H", "Authorization: Bearer hunter2", "-f"],
        ["curl", "-b", "sid=hunter2", "-f", "-O"], ["wget", "--user=me", "--password=hunter2", "-t1"],
        ["aria2c", "--http-user=me", "--http-passwd=hunter2"], ["curl", "--max-filesize", "9", "-u", "me:hunter2"],
        ["curl", "-i", "-f", "-u", "me:hunter2"], ["curl", "-sI", "-H", "Authorization: Bearer hunter2", "-f"],
        ["wget", "-b", "--password=hunter2", "--user=me"], ["aria2c", "-D", "--http-passwd=hunter2"],
    ])
    func secretsOfTheLineAreNeitherStoredNorRepeated(_ words: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let result = try await place.command(words + [server.url("/missing")]).run()
            #expect(result.exitCode != 0)
            #expect(
                !result.standardError.contains("hunter2") && !result.standardOutput.contains("hunter2"), "\(result)")
            for name in try FileManager.default.subpathsOfDirectory(atPath: place.folder.path) {
                let path = place.folder.path(name)
                let data = FileManager.default.contents(atPath: path) ?? Data()
                #expect(data.range(of: Data("hunter2".utf8)) == nil, "\(name)")
            }
        }
    }

    /// A file that was cut off is continued by the same words, as with `transfer get`.
    @Test func theSameLineContinuesWhatWasCutOff() async throws {
        try await withTestServer { server in
            let content = Content.random(seed: 5, count: 2_000_000)
            server.serve("/big", content, etag: "\"1\"")
            server.script("/big", [.cut(after: 1_500_000)])
            let place = try Workplace()
            let words = ["curl", "-fsSLO", "--retry", "0", server.url("/big")]
            let first = try await place.command(words).run()
            #expect(first.exitCode != 0, "\(first)")
            let second = try await place.command(words).run()
            #expect(second.exitCode == 0, "\(second)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("big")) == nil)
            let ranges = server.requests(to: "/big").compactMap(\.range)
            #expect(!ranges.isEmpty && ranges.allSatisfy { $0 != "bytes=0-" }, "\(ranges)")
        }
    }
}
