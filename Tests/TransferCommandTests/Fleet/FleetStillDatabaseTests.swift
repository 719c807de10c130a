import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// A database that accepts connections and never answers, as on a hanging machine. Neither a process that is asked to
/// end nor a transfer waits for it.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetStillDatabaseTests {
    /// Prepares a queue with an unfinished job.
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

    @Test func aStoppedWorkerWaitsForTheDatabaseForSeconds() async throws {
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

    /// The worker has nothing to give back, and its time for transfers is for transfers only.
    @Test func anIdleWorkerWhoseDatabaseIsGoneEndsWithinSeconds() async throws {
        let database = try await PostgresServer.start()
        let fleet = try await FleetPlace(on: database)
        let worker = try fleet.worker("a", "--lease", "60s", "--drain", "1m")
        try await worker.begins()
        try await database.kill()
        _ = try await worker.line { $0.contains("is away, waiting for it") }
        let begun = ContinuousClock.now
        worker.kill(SIGTERM)
        let result = try await worker.result()
        #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(10), "\(result)")
        #expect(result.standardError.contains("the queue's database is away"), "\(result)")
        await database.stop()
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

    /// The worker waits for an answer, and then for a connection.
    @Test(.enabled(if: TransferCommand.runsHeavyTests, "it takes half a minute"))
    func aRunThatShowsTheJobsReportsItsWaitForTheDatabase() async throws {
        try await with { fleet, database in
            let run = try fleet.command(["run", "jobs.json", "--queue", fleet.queue, "--json"]).start()
            try await run.event("batch.started")
            try database.freeze()
            _ = try await run.line { $0.contains("the queue's database is away, waiting for it") }
            try database.thaw()
            _ = try await run.line { $0.contains("the queue's database is back") }
            run.kill(SIGINT)
            _ = try await run.result()
        }
    }

    /// The end of the small job is recorded only when the database answers again.
    @Test func transfersUnderWayContinueWithoutTheDatabase() async throws {
        // The size exceeds what the kernel buffers for a client that does not read.
        let content = Content.random(seed: 38, count: 64 << 20)
        try await withTestServer { server in
            server.serve("/large", ServedFile(content))
            server.serve("/small", ServedFile(.text("small")))
            server.script("/large", [.stall(after: 1 << 20)])
            server.script("/small", [.holdHead])
            try await with { fleet, database in
                try fleet.place.jobs(["large", "small"].map { download(server.url("/\($0)"), to: $0) })
                let worker = try fleet.worker("a", "-j", "2", "--lease", "60s")
                try await worker.begins()
                try await fleet.bring()
                try await server.waitForHeld(2)
                try database.freeze()
                server.release("/small")
                try await server.waitForAnswers(1)
                server.release("/large")
                try await server.waitForAnswers(2)
                try database.thaw()
                #expect(try await fleet.run("wait", "batch").exitCode == 0)
                try await fleet.stop(worker)
                #expect(try content.firstDifference(fromFileAt: fleet.folder.path("a/large")) == nil)
                #expect(try fleet.folder.text("a/small") == "small")
                #expect(server.requests.count == 2, "each was fetched once")
            }
        }
    }
}
