import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Workers whose files lie in one folder.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(3))) struct SharedFolderTests {
    private let content: Data

    init() {
        var bytes = SampleBytes(seed: 38)
        content = bytes.next(400_000)
    }

    private func serve(_ content: Data, rate: String) async throws -> NginxServer {
        var options = NginxServer.Options()
        options.limitRate = rate
        let server = try await NginxServer.start(options: options)
        try content.write(to: URL(fileURLWithPath: "\(server.root)/large"))
        return server
    }

    private func bring(_ fleet: FleetPlace, _ server: NginxServer) async throws {
        try fleet.place.jobs([download(server.url("/large"), to: "in/large")])
        try await fleet.bring()
    }

    /// Waits until there is a partial file with more than this number of bytes.
    private func awaitPart(_ fleet: FleetPlace, bytes: Int = 50_000) async throws {
        try await until("a partial file") {
            guard fleet.folder.exists("shared/in") else { return false }
            let parts = try fleet.folder.files(below: "shared/in").filter { $0.hasSuffix(".part") }
            return try parts.contains { try fleet.folder.data("shared/in/\($0)").count > bytes }
        }
    }

    /// A worker that sleeps for longer than its lease keeps its file open, and writes to it when it wakes.
    @Test func aWokenWorkerWritesNothingIntoTheFileOfItsSuccessor() async throws {
        let server = try await serve(content, rate: "80k")
        let fleet = try await FleetPlace()
        try await bring(fleet, server)
        let sleeper = try fleet.worker("shared")
        try await awaitPart(fleet)
        sleeper.kill(SIGSTOP)
        let other = try fleet.worker("shared")
        // Both workers write at the same time for a while.
        try await other.event("job.started")
        try await awaitPart(fleet)
        sleeper.kill(SIGCONT)
        _ = try await sleeper.line { $0.contains("begins anew") }
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        try await fleet.stop(sleeper, other)
        #expect(try fleet.folder.files(below: "shared") == ["in/large"])
        #expect(try fleet.folder.data("shared/in/large") == content)
        #expect(try await fleet.batch()?["done"]?.int == 1)
    }

    /// The first 2 MiB may have no record when a worker is killed.
    @Test(arguments: [SIGTERM, SIGKILL]) func anotherWorkerContinuesAnAbandonedPart(signal: Int32) async throws {
        var bytes = SampleBytes(seed: 39)
        let content = bytes.next(6 << 20)
        let server = try await serve(content, rate: "1m")
        let fleet = try await FleetPlace()
        try await bring(fleet, server)
        let first = try fleet.worker("shared")
        try await awaitPart(fleet, bytes: 5 << 19)
        first.kill(signal)
        _ = try await first.result()
        let next = try fleet.worker("shared")
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        try await fleet.stop(next)
        await server.stop()
        #expect(try fleet.folder.files(below: "shared") == ["in/large"])
        #expect(try fleet.folder.data("shared/in/large") == content)
        #expect(try server.accessLog().contains { ($0.rangeStart ?? 0) > 0 }, "it began anew")
    }
}
