import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The end "kept" by a 304: only the resource that the file came from can confirm it.
@Suite(.timeLimit(.minutes(1))) struct ConfirmedFileTests {
    private let folder: TemporaryFolder
    private let one = Content.random(seed: 1, count: 2_000_000)
    private let two = Content.random(seed: 2, count: 2_000_000)

    init() throws { folder = try TemporaryFolder("confirmed") }

    /// Serves `/latest`, which leads to `/v1` once and to a different file afterwards, with the same tag or the same
    /// time.
    private func serve(_ server: TestServer, byTag: Bool, then next: String) {
        for (path, content) in [("/v1", one), ("/v2", two)] {
            server.serve(
                path, byTag ? ServedFile(content, etag: "\"x\"") : ServedFile(content, lastModified: 1_000_000_000))
        }
        server.script("/latest", [.redirect(to: "/v1")], afterwards: .redirect(to: next))
    }

    /// The validator comes from the file's own note (a different batch) or from the record (`--refresh`).
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func the304OfAnotherURLKeepsNothing(_ byTag: Bool, _ byNote: Bool) async throws {
        try await withTestServer { server in
            serve(server, byTag: byTag, then: "/v2")
            try await again(server, byNote) { totals in #expect(totals.completed == 1) }
            #expect(server.requests.map(\.status) == [302, 200, 302, 200])
            #expect(try two.firstDifference(fromFileAt: folder.path("x")) == nil)
        }
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func the304OfTheSameURLKeepsTheFile(_ byTag: Bool, _ byNote: Bool) async throws {
        try await withTestServer { server in
            serve(server, byTag: byTag, then: "/v1?sig=2")
            try await again(server, byNote) { totals in #expect(totals.kept == 1) }
            #expect(server.requests.map(\.status) == [302, 200, 302, 304])
            // The source of the file is remembered after that.
            try await withQueue(folder) { queue in
                let kept = try await refresh(queue, server, byNote).kept
                #expect(kept == 1)
            }
            #expect(server.requests.last?.status == 304)
        }
    }

    private func job(_ server: TestServer, _ byNote: Bool) -> JobSpec {
        Sample.download(server.url("/latest"), to: folder.path("x"), ifExists: byNote ? .update : .verify)
    }

    private func again(_ server: TestServer, _ byNote: Bool, _ check: (BatchTotals) -> Void) async throws {
        try await withQueue(folder) { queue in
            let completed = try await queue.complete([job(server, false)], name: "one").completed
            #expect(completed == 1)
            check(try await refresh(queue, server, byNote, name: byNote ? "two" : "one"))
        }
    }

    private func refresh(
        _ queue: JobQueue, _ server: TestServer, _ byNote: Bool, name: String? = nil
    ) async throws -> BatchTotals {
        let name = name ?? (byNote ? "three" : "one")
        let staged = try await queue.stage([job(server, byNote)], name: name)
        var options = RunOptions()
        options.refresh = !byNote
        let summary = try await within { [options] in try await queue.run([staged], options: options) }
        return summary.totals[name] ?? BatchTotals()
    }
}
