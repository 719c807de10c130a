import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferQueue
@testable import TransferStore

/// A batch that an earlier version left half done when it was killed.
@Suite(.ofAFolder, .timeLimit(.minutes(1))) struct EarlierStateTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("earlier") }

    private func prepare() throws {
        for name in ["up.bin", "post.bin"] { try folder.write(count: 100_000, seed: 1, to: name) }
        let path = try folder.write(count: 1000, seed: 2, to: "out/done")
        var status = stat()
        try #require(stat(path, &status) == 0)
        let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        let state = try StateFolder(folder.path("state"))
        try RawDatabase(path: state.database).run(EarlierState.sql(folder: folder.path(""), modified: modified))
    }

    @Test func anEarlierBatchIsContinuedAndNothingIsDoneTwice() async throws {
        try prepare()
        let jobs = try read(EarlierState.jobs).jobs
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(headers: ["ETag": "\"v1\""], body: .text(request.path)) }
            let sent = server.acceptUploads("/in/put")
            var proxied: (inout QueueConfiguration) -> Void {
                { $0.proxies = ProxyRule(http: server.url("")) }
            }
            try await withQueue(folder, configure: proxied) { queue in
                let log = EventLog(queue)
                let totals = try await queue.complete(jobs, directory: folder.path(""))
                #expect(totals.kept == 1 && totals.completed == 4 && totals.failed == 1)
                #expect(log.ends["post"] == ["failed mayHaveBeenSent"], "nobody knows whether it arrived")
                #expect(log.ends["done"] == ["kept"])
                let failure = try queue.sqlite().failures(batch: "b", limit: 9).first
                #expect(failure?.job == "post" && failure?.code == TransferError.Code.mayHaveBeenSent.rawValue)
            }
            #expect(sent.uploads.map(\.count) == [100_000])
            let paths = server.requests.map { "\($0.method) \($0.path)" }.filter { !$0.hasPrefix("HEAD") }
            #expect(paths.sorted() == ["GET /after", "GET /missing", "GET /slow", "PUT /in/put"])
            #expect(try folder.text("out/after") == "/after")
        }
    }
}
