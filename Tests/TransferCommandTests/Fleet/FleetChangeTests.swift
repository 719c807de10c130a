import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Job files that are edited while workers have their jobs.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetChangeTests {
    let fleet: FleetPlace
    let server: NginxServer
    let content: Data

    init() async throws {
        fleet = try await FleetPlace()
        var options = NginxServer.Options()
        // The long job would take a minute.
        options.server = "location = /slow { limit_rate 10k; }"
        server = try await NginxServer.start(options: options)
        var bytes = SampleBytes(seed: 38)
        content = bytes.next(600_000)
        for name in ["slow", "quick"] { try content.write(to: URL(fileURLWithPath: "\(server.root)/\(name)")) }
    }

    private func write(_ jobs: (id: String, file: String)...) throws {
        try fleet.place.jobs(jobs.map { download(server.url("/\($0.file)"), to: $0.id, #""id": "\#($0.id)""#) })
    }

    /// Submits a long job, which a worker begins.
    private func begun() async throws -> ChildProcess {
        try write(("a", "slow"), ("b", "quick"))
        try await fleet.bring()
        let worker = try fleet.worker("w")
        try await until("the long job to be under way") { [fleet] in
            guard try await fleet.batch()?["done"]?.int == 1 else { return false }
            return try await fleet.workers().first?["running"]?.int == 1
        }
        return worker
    }

    @Test func aChangedJobIsReleasedByItsWorkerAndBeginsAnew() async throws {
        let worker = try await begun()
        try write(("a", "quick"), ("b", "quick"))
        let brought = try await fleet.run("run", "jobs.json", "--detach")
        #expect(brought.exitCode == 0, "\(brought)")
        #expect(brought.standardError.contains("waiting for workers to release it"), "\(brought)")
        let end = try await fleet.run("wait", "batch")
        #expect(end.exitCode == 0, "\(end)")
        #expect(try fleet.folder.data("w/a") == content)
        #expect(try await fleet.batch()?["done"]?.int == 2)
        try await fleet.stop(worker)
        await server.stop()
        let asked = try server.accessLog().map(\.uri)
        #expect(asked == ["/quick", "/slow", "/quick"], "\(asked)")
    }

    @Test func aChangedJobOfAKilledWorkerIsWaitedForUntilTheLeaseIsOver() async throws {
        let worker = try await begun()
        worker.kill(SIGKILL)
        _ = try await worker.result()
        try write(("a", "quick"), ("b", "quick"))
        let brought = try await fleet.run("run", "jobs.json", "--detach")
        #expect(brought.exitCode == 0, "\(brought)")
        let next = try fleet.worker("w")
        let end = try await fleet.run("wait", "batch")
        #expect(end.exitCode == 0, "\(end)")
        #expect(try fleet.folder.data("w/a") == content)
        try await fleet.stop(next)
    }

    @Test func aRemovedJobIsReleasedByItsWorkerBeforeItIsDeleted() async throws {
        let worker = try await begun()
        try write(("b", "quick"))
        let brought = try await fleet.run("run", "jobs.json", "--detach")
        #expect(brought.exitCode == 0, "\(brought)")
        #expect(brought.standardError.contains("waiting for workers to release it"), "\(brought)")
        let end = try await fleet.run("wait", "batch")
        #expect(end.exitCode == 0, "\(end)")
        let status = try await fleet.batch()
        #expect(status?["total"]?.int == 1 && status?["done"]?.int == 1, "\(status as Any)")
        try await fleet.stop(worker)
        #expect(!fleet.folder.exists("w/a"))
    }
}
