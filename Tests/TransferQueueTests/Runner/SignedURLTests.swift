import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferQueue

/// Signed URLs that a redirect leads to, and that have expired when they are requested.
@Suite(.timeLimit(.minutes(1))) struct SignedURLTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 300_000)

    init() throws { folder = try TemporaryFolder("signed") }

    @Test(arguments: [400, 401, 403, 410])
    func anExpiredURLIsRequestedAgain(_ status: Int) async throws {
        try await withTestServer { server in
            server.script("/own", [.redirect(to: "/old?signature=1")], afterwards: .redirect(to: "/new?signature=2"))
            server.script("/old", [], afterwards: .status(status))
            server.serve("/new", content)
            var job = Sample.download(server.url("/own"), to: folder.path("x"), id: "x")
            job.settings = Sample.retries(3)
            try await withQueue(folder) { queue in
                let totals = try await queue.complete([job])
                #expect(totals.completed == 1)
            }
            #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
            #expect(server.requests(to: "/own").count == 2)
        }
    }

    @Test func anUploadToAnExpiredURLIsSentAgain() async throws {
        try await withTestServer { server in
            server.script(
                "/own", [.redirect(to: "/old?signature=1", status: 307)],
                afterwards: .redirect(to: "/new?signature=2", status: 307))
            server.script("/old", [], afterwards: .status(403))
            server.acceptUploads("/new")
            try folder.write("one", to: "f")
            var job = Sample.upload(folder.path("f"), to: server.url("/own"))
            job.settings = Sample.retries(3)
            try await withQueue(folder) { queue in
                let totals = try await queue.complete([job])
                #expect(totals.completed == 1)
            }
            #expect(server.requests(to: "/new").count == 1)
        }
    }

    /// The arguments are a forbidden file, a URL that itself reports its expiry, and a missing file.
    @Test(
        arguments: [
            ("/behind", 403, [], 2), ("/own", 403, [], 1), ("/behind", 404, [], 1), ("/behind", 403, [503], 1),
        ] as [(String, Int, Set<Int>, Int)])
    func aRefusalThatLastsEndsTheJob(
        _ refusing: String, _ status: Int, _ worthTrying: Set<Int>, _ asked: Int
    ) async throws {
        try await withTestServer { server in
            server.script("/own", [], afterwards: .redirect(to: "/behind"))
            server.script(refusing, [], afterwards: .status(status))
            var job = Sample.download(server.url("/own"), to: folder.path("x"), id: "x")
            job.settings = Sample.retries(3)
            if !worthTrying.isEmpty { job.settings.retry.statusCodes = worthTrying }
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["x"] == ["failed httpStatus"])
            }
            #expect(server.requests(to: "/own").count == asked)
        }
    }
}
