import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Workers of a database that has an asynchronous standby.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetReplicationTests {
    private static let words = "its standbys are asynchronous"

    @Test func workersAndRunsReportOnceThePossibleLossOfAFailOver() async throws {
        let primary = try await PostgresServer.start()
        let standby = try await primary.startStandby()
        let fleet = try await FleetPlace(on: primary)
        try fleet.place.jobs([download("https://files.example/x", to: "x")])
        let worker = try fleet.worker("a")
        try await worker.begins()
        // The worker loses its lease, and opens the queue again.
        try await primary.ask("DELETE FROM \(fleet.schema).process")
        _ = try await worker.line { $0.contains("the worker begins anew") }
        try await until("another lease") { try await !fleet.workers().isEmpty }
        worker.kill(SIGTERM)
        let result = try await worker.result()
        #expect(result.exitCode == 0)
        let said = (result.standardOutput + result.standardError).components(separatedBy: Self.words).count - 1
        #expect(said == 1, "\(result)")
        let run = try await fleet.run("run", "jobs.json", "--detach")
        #expect(run.exitCode == 0 && run.standardError.components(separatedBy: Self.words).count == 2, "\(run)")
        await standby.stop()
        await primary.stop()
    }
}
