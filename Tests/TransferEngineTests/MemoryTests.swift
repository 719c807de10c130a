import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

@Suite(.serialized, .timeLimit(.minutes(2))) struct MemoryTests {
    /// The bytes are passed from libcurl's buffer to the file. Other tests run in this process meanwhile, so the bound
    /// is the memory that keeping the body would exceed.
    @Test func aBigBodyLeavesTheProcessSmall() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", ServedFile(.random(seed: 1, count: 256 << 20), etag: "\"a\""))
            let before = try #require(ProcessFacts.peakMemory(getpid()))
            let outcome = try await bench.download().outcome
            #expect(outcome.error == nil && outcome.position == 256 << 20)
            let after = try #require(ProcessFacts.peakMemory(getpid()))
            #expect(after - before < 192 << 20, "grew by \(ByteCount.format(after - before))")
            #expect(outcome.digest?.hex == (try await bench.folder.sha256("x.part")))
            // Checkpoints beside the transfer have synced most of the file.
            func durable() -> Int64 {
                guard let part = try? PartFile.open(bench.file) else { return 0 }
                return part.initialRecord?.trustedLength(onMount: "another", fileSize: part.initialSize) ?? 0
            }
            await eventually { durable() >= 64 << 20 }
        }
    }

    @Test func aBigUploadLeavesTheProcessSmall() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in", keepsBytes: false)
            let path = bench.folder.path("source")
            // A hole, which reads as zeros and occupies no space.
            let part = try PartFile.open(path)
            try part.truncate(to: 256 << 20)
            let before = try #require(ProcessFacts.peakMemory(getpid()))
            let outcome = try await bench.send("PUT", "/in", body: .file(try SourceFile(path))).end()
            #expect(outcome.head?.status == 201 && sink.uploads.map(\.count) == [256 << 20])
            let after = try #require(ProcessFacts.peakMemory(getpid()))
            #expect(after - before < 192 << 20, "grew by \(ByteCount.format(after - before))")
        }
    }
}
