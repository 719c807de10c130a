import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Bodies that end only with their connection.
@Suite("Unproven lengths") struct UnprovenLengthTests {
    private static let whole = Content.random(seed: 3, count: 100_000)

    /// Returns the answers of the server to a GET: a beginning, without a length.
    private static func answers(_ counts: [Int64]) -> [Fault] {
        counts.map { Fault.noContentLength.and(.cut(after: $0)) }
    }

    private func get(_ server: TestServer, _ place: Workplace, _ more: String...) async throws -> ProcessResult {
        try await place.command(
            ["get", "--json", "--report", "report", "-o", "f"] + more + [server.url("/f")]
        ).run()
    }

    /// Makes the server's answer to HEAD as uninformative as its answer to GET.
    private func silent(_ server: TestServer) {
        server.handle("HEAD", "/f") { _ in Response(status: 405) }
        server.handle("GET", "/f") { _ in Response(body: Self.whole) }
        server.script("/f", method: "GET", [], afterwards: .noContentLength)
    }

    @Test func aHeadWithTheLengthProvesIt() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/f", Self.whole)
            server.script("/f", method: "GET", [.noContentLength])
            let result = try await get(server, place, "--strict")
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.method) == ["GET", "HEAD"])
            #expect(try place.content("f") == Self.whole.bytes())
            #expect(!result.standardOutput.contains("lengthUnproven"))
        }
    }

    @Test func aFileThatIsLongerByItsHeadIsFetchedAgain() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/f", Self.whole)
            server.script("/f", method: "GET", Self.answers([60_000]))
            try place.jobs([download(server.url("/f"), to: "f")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.method) == ["GET", "HEAD", "GET"])
            #expect(try place.content("f") == Self.whole.bytes())
            let reason = try result.events().named("job.retrying").first?["reason"]?.string
            #expect(reason?.hasPrefix("the answer ended 40000 bytes early") == true, "\(result)")
        }
    }

    @Test func anUnprovenFileIsCompleteAndReportedAsUnproven() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            silent(server)
            let result = try await get(server, place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.method) == ["GET", "HEAD"])
            #expect(try place.content("f") == Self.whole.bytes())
            let end = try #require(try result.events().named("job.finished").first)
            #expect(end["lengthUnproven"]?.bool == true && end["unproven"] == nil)
            #expect(result.standardError.contains("complete, length unproven"), "\(result)")
            #expect(result.standardError.contains("1 complete, length unproven: "), "\(result)")
            #expect(try place.folder.text("report").contains("lengthUnproven"))
        }
    }

    @Test func strictFailsUnprovenFilesEvenOfAnEarlierRun() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            silent(server)
            try place.jobs([download(server.url("/f"), to: "f")])
            #expect(try await place.runJobs().exitCode == 0)
            let result = try await place.runJobs("--strict")
            #expect(result.exitCode == 1, "\(result)")
            let end = try #require(try result.events().named("job.failed").first)
            #expect(end["code"]?.string == "unproven" && end["attempts"]?.int == 1)
            try place.jobs([download(server.url("/f"), to: "g", #""strict": true"#)], name: "other")
            #expect(try await place.runJobs().exitCode == 1)
            #expect(!place.folder.exists("g"))
            // A complete job has to pass the proof that its file now requires.
            try place.jobs([download(server.url("/f"), to: "h")], name: "edited")
            #expect(try await place.runJobs().exitCode == 0)
            try place.jobs([download(server.url("/f"), to: "h", #""strict": true"#)], name: "edited")
            #expect(try await place.runJobs().exitCode == 1)
        }
    }

    @Test func aDigestProvesItWithoutAQuestion() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            silent(server)
            let sum = try await digest("sha256", Self.whole.bytes())
            let result = try await get(server, place, "--strict", "--checksum", "sha256:\(sum)")
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.method) == ["GET"])
            #expect(!result.standardOutput.contains("lengthUnproven"))
        }
    }

    @Test func chunksAndLengthsNeedNoQuestion() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", Self.whole)
            server.serve("/b", Self.whole)
            server.script("/b", [], afterwards: .chunked())
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")])
            #expect(try await place.runJobs("--strict").exitCode == 0)
            #expect(server.requests.map(\.method) == ["GET", "GET"])
        }
    }
}
