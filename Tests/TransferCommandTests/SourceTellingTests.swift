import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// The command's reports about the sources of a download: `--json`, `--report`, and `why`, also from a second process.
@Suite(.timeLimit(.minutes(1))) struct SourceTellingTests {
    private let content = Content.random(seed: 7, count: 24 << 20)

    private func job(_ urls: [String], _ more: String = "") async throws -> String {
        let sum = try await digest("sha256", content.bytes())
        let list = urls.map { #""\#($0)""# }.joined(separator: ", ")
        return #"{"id": "x", "download": [\#(list)], "to": "x", "checksum": "sha256:\#(sum)", "segments": 4\#(more)}"#
    }

    private func serve(_ server: TestServer) -> String {
        server.serve("/x", content, etag: "\"\(server.port)\"")
        server.script("/x", [], afterwards: .trickle(32 << 10, every: .milliseconds(10)))
        return server.url("/x")
    }

    private func sources(_ value: JSONValue?) -> [JSONValue] { value?["sources"]?.array ?? [] }

    @Test func eventsTheReportAndWhyDescribeEachSource() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let place = try Workplace()
                let (good, gone) = (serve(one), two.url("/x?token=secret1234&X-Amz-Signature=ab"))
                try place.jobs([try await job([good, gone])])
                let result = try await place.command(
                    ["run", "jobs.json", "--json=progress", "--report", "ends.jsonl", "-v"]
                ).run()
                #expect(result.exitCode == 0, "\(result)")
                let events = try result.events()

                let finished = try #require(events.named("job.finished").first)
                let reported = sources(finished)
                #expect(reported.map { $0["state"]?.string } == ["used", "dropped"])
                #expect(
                    reported.first?["url"]?.string == good && reported.first?["host"]?.string == "127.0.0.1:\(one.port)"
                )
                #expect(reported.first?["connections"]?.int ?? 0 >= 3 && reported.first?["bytes"]?.int ?? 0 > 23 << 20)
                #expect(reported.first?["rate"]?.int ?? 0 > 1 << 18)
                #expect(
                    reported.last?["cause"]?.string == "refused" && reported.last?["reason"]?.string == "404 Not Found")
                // The report has the same line.
                let report = try JSONValue.parse(Data(try place.folder.text("ends.jsonl").utf8))
                #expect(sources(report) == reported)

                let progress = events.named("job.progress").filter { !sources($0).isEmpty }
                #expect(progress.contains { $0["connections"]?.int ?? 0 >= 3 })
                let changes = events.named("job.source")
                #expect(changes.first?["id"]?.string == "x" && changes.first?["state"]?.string == "paused")
                #expect(changes.first?["reason"]?.string == "404 Not Found" && changes.first?["again"] != nil)
                #expect(result.standardError.contains("x: 127.0.0.1:\(two.port) paused, asked again in 0:0"))

                let why = try await place.run("why", "batch/x")
                #expect(why.exitCode == 0, "\(why)")
                let lines = why.standardOutput.split(separator: "\n").map(String.init)
                let first = try #require(lines.first { $0.hasPrefix("  sources   127.0.0.1:\(one.port)  x") })
                #expect(first.hasSuffix("/s") && first.contains(" MiB  "), "\(why)")
                #expect(
                    lines.contains {
                        $0.hasPrefix("            127.0.0.1:\(two.port) ") && $0.hasSuffix("  dropped: 404 Not Found")
                    }, "\(why)")
                let json = try await place.run("why", "batch/x", "--json")
                #expect(sources(try JSONValue.parse(Data(json.standardOutput.utf8))) == reported)
                for text in [result.standardOutput, result.standardError, why.standardOutput, json.standardOutput] {
                    #expect(!text.contains("secret1234") && !text.contains("Signature=ab"))
                }
            }
        }
    }

    @Test func whyReportsTheSourcesFromAnotherProcess() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let place = try Workplace()
                let urls = [serve(one), serve(two), one.url("/spare")]
                for server in [one, two] { server.script("/x", [], afterwards: .stall(after: 2 << 20)) }
                try place.jobs([try await job(urls)])
                let process = try place.startJobs()
                try await until("both are told") {
                    let why = try await place.run("why", "batch/x", "--json")
                    guard let value = try? JSONValue.parse(Data(why.standardOutput.utf8)) else { return false }
                    return sources(value).filter { $0["connections"]?.int ?? 0 > 0 }.count == 2
                }
                let why = try await place.run("why", "batch/x")
                #expect(why.standardOutput.hasPrefix("batch/x: under way, by process "), "\(why)")
                #expect(why.standardOutput.contains("  x"), "\(why)")
                process.kill(SIGTERM)
                _ = try await process.result()
                let stopped = try await place.run("why", "batch/x")
                #expect(!stopped.standardOutput.contains("sources"), "\(stopped)")
            }
        }
    }

    /// A failed job reports the answer of each of its mirrors.
    @Test func afterAFailureEachMirrorHasItsReason() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/b", [], afterwards: .status(403))
            try place.jobs([try await job([server.url("/a"), server.url("/b")])])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1)
            let failed = try #require(try result.events().named("job.failed").first)
            #expect(sources(failed).map { $0["reason"]?.string } == ["404 Not Found", "403 Forbidden"])
            let why = try await place.run("why", "batch/x")
            // Two sources on one host are distinguished by their URLs.
            #expect(why.standardOutput.contains("  sources   \(server.url("/a"))  dropped: 404 Not Found\n"), "\(why)")
            #expect(why.standardOutput.contains("            \(server.url("/b"))  dropped: 403 Forbidden\n"), "\(why)")
        }
    }
}
