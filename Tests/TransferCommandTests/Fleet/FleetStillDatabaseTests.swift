import Foundation
import Glibc
import Testing
import TransferTestSupport

/// A database that takes connections and says nothing, as on a machine that hangs: nothing waits for it that is told to end.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetStillDatabaseTests {
    /// A queue with a job that nobody has done.
    private func with(_ body: (FleetPlace, PostgresServer) async throws -> Void) async throws {
        let database = try await PostgresServer.start()
        let fleet = try await FleetPlace(on: database)
        try fleet.place.jobs([download("http://192.0.2.1/x", to: "x")])
        do {
            try await body(fleet, database)
        } catch {
            try await database.kill()
            await database.stop()
            throw error
        }
        try await database.kill()
        await database.stop()
    }

    @Test func aWorkerThatIsToldToEndWaitsForItForSeconds() async throws {
        try await with { fleet, database in
            let worker = try fleet.worker("a", "--lease", "60s")
            try await worker.begins()
            try database.freeze()
            let begun = ContinuousClock.now
            worker.kill(SIGTERM)
            let result = try await worker.result()
            #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(15), "\(result)")
        }
    }

    @Test func aRunThatShowsTheJobsEndsAtOnceWhenItsInterrupted() async throws {
        try await with { fleet, database in
            let run = try fleet.command(["run", "jobs.json", "--queue", fleet.queue, "--json"]).start()
            try await run.event("batch.started")
            try database.freeze()
            let begun = ContinuousClock.now
            run.kill(SIGINT)
            let result = try await run.result()
            #expect(result.signal == SIGINT && ContinuousClock.now - begun < .seconds(5), "\(result)")
        }
    }
}
