import Foundation
import Testing
import TransferTestSupport

/// A worker as a service of its machine: what it tells its manager, and when it ends by itself.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetServiceTests {
    @Test func aWorkerNotifiesItsManager() async throws {
        let fleet = try await FleetPlace()
        let path = fleet.folder.path("manager")
        let manager = try ManagerSocket(path)
        _ = try fleet.folder.folder("a")
        var command = fleet.command(["work", "--queue", fleet.queue, "-d", "a", "--allow-private", "--json", "-v"])
        command.environment["NOTIFY_SOCKET"] = path
        command.environment["WATCHDOG_USEC"] = "1000000"
        let worker = try command.start()
        try await manager.message { $0.contains("READY=1") && $0.contains("STATUS=working on postgres://") }
        try await manager.message { $0 == "WATCHDOG=1" }
        worker.kill(SIGHUP)
        try await manager.message { $0.contains("RELOADING=1\nMONOTONIC_USEC=") }
        try await manager.message { $0 == "READY=1" }
        worker.kill(SIGTERM)
        // The 30 seconds for transfers, and those for checkpoints.
        try await manager.message { $0.contains("STOPPING=1\nEXTEND_TIMEOUT_USEC=45000000") }
        #expect(try await worker.result().exitCode == 0)
    }

    @Test func theUnitGivesAWorkerTheTimeOfItsDrain() throws {
        let unit = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("systemd/system/transfer-work@.service")
        let lines = try String(contentsOf: unit, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("TimeoutStopSec=45") && lines.contains("ExecReload=/bin/kill -HUP $MAINPID"))
    }

    /// Another attempt would fail as well.
    @Test func aWorkerThatLacksARightEndsAndNamesIt() async throws {
        let database = try await PostgresServer.shared
        let fleet = try await FleetPlace(on: database)
        let queue = String(fleet.queue.split(separator: "=").last ?? "")
        let owner = try fleet.worker("owner")
        try await owner.begins()
        try await fleet.stop(owner)
        let address = database.url(queue: queue, login: try await database.login("submit", in: queue))
        _ = try fleet.folder.folder("a")
        let result = try await fleet.command(["work", "--queue", address, "-d", "a"]).run()
        #expect(result.exitCode == 78 && result.standardError.contains("'work')"), "\(result)")
        #expect(!result.standardError.contains("begins anew"), "\(result)")
    }

    /// The login is locked for a while, as during a change of its password, and the lease is lost meanwhile.
    @Test func aWorkerThatHasWorkedWaitsForTheEndOfARefusal() async throws {
        let database = try await PostgresServer.shared
        let fleet = try await FleetPlace(on: database)
        let login = "u\(UInt64.random(in: 0 ... .max))"
        try await database.ask("CREATE ROLE \(login) LOGIN; GRANT CREATE ON DATABASE postgres TO \(login)")
        let queue = database.url(queue: String(fleet.queue.split(separator: "=").last ?? ""), login: login)
        _ = try fleet.folder.folder("a")
        let worker = try fleet.command(["work", "--queue", queue, "-d", "a", "--lease", "3s", "--drain", "0", "-v"])
            .start()
        try await worker.begins()
        try await database.ask("ALTER ROLE \(login) NOLOGIN")
        try await database.ask("DELETE FROM \(fleet.schema).process")
        _ = try await worker.line { $0.contains("waiting for it") && $0.contains("refuses the login") }
        try await database.ask("ALTER ROLE \(login) LOGIN")
        _ = try await worker.line { $0.contains("database is back") }
        try await fleet.stop(worker)
    }

    @Test func aRunWithoutAWorkerSaysSo() async throws {
        let fleet = try await FleetPlace()
        try fleet.place.jobs([download("http://192.0.2.1/x", to: "x")])
        let result = try await fleet.run("run", "jobs.json", "--detach")
        #expect(result.exitCode == 0 && result.standardError.contains("no worker is there"), "\(result)")
    }
}
