import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine
@testable import TransferJobs
@testable import TransferQueue

/// The proof of a download covers the bytes of the written file, and not the received bytes.
@Suite(.timeLimit(.minutes(1))) struct WrittenBytesTests {
    let folder: TemporaryFolder
    static let content = Content.random(seed: 37, count: 8 << 20)

    init() throws { folder = try TemporaryFolder("written") }

    /// A second program shortens the partial file during the transfer, to nothing or to its beginning.
    @Test(arguments: [0, 1 << 20] as [off_t], [SegmentCount.exactly(1), .exactly(4)])
    func aPartialFileThatAnotherProgramShortensIsFetchedAnew(_ length: off_t, _ segments: SegmentCount) async throws {
        let content = Self.content
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.stall(after: 3 << 20)])
            server.script("parts", for: { $0.range != nil }, [], afterwards: .stall(after: 256 << 10))
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([
                    JobSpec(
                        work: .download(
                            JobSpec.Download(
                                urls: [server.url("/x")], destination: folder.path("x"), checksum: nil,
                                segments: segments)),
                        settings: Sample.quick)
                ])
                let run = Task { try await queue.run([staged]) }
                try await log.wait(forBytes: 2 << 20)
                #expect(truncate(folder.path("x.part"), length) == 0)
                server.script("parts", for: { _ in false }, [])
                server.release()
                let totals = try await within(.seconds(30)) { try await run.value.totals["b"] }
                #expect(totals?.completed == 1)
            }
            #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
        }
    }

    @Test func aFileOfZerosIsWhole() async throws {
        let zeros = Content.bytes([UInt8](repeating: 0, count: 3 << 20))
        try await withTestServer { server in
            server.serve("/x", zeros, etag: "\"1\"")
            try await withQueue(folder) { queue in
                let totals = try await queue.complete([Sample.download(server.url("/x"), to: folder.path("x"))])
                #expect(totals.completed == 1)
            }
            #expect(server.requests.count == 1)
        }
    }
}
