import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Workers are killed, stopped and disconnected, and the database crashes: `make torture-fleet` does more of it.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(5))) struct FleetTortureTests {
    @Test func noJobIsLostRepeatedOrWrongAndNoWorkerNeedsHelp() async throws {
        let kills = TransferCommand.runsHeavyTests ? "200" : "20"
        try await run("fleet.py", "--kills", kills)
    }

    @Test func aPromotedStandbyTakesThePlaceOfTheDatabase() async throws {
        try await run("fleet_failover.py", "--rounds", TransferCommand.runsHeavyTests ? "15" : "3")
    }

    @Test(.enabled(if: PythonServer.isWanted))
    func copiesToObjectStoresArriveOnceDespiteLostWorkers() async throws {
        let (copies, kills) = TransferCommand.runsHeavyTests ? ("2000", "100") : ("150", "12")
        try await run("fleet_copies.py", "--copies", copies, "--kills", kills, "--limit", "240")
    }

    @Test(.enabled(if: geteuid() == 0, "a full disk is a file system of its own, which takes root"))
    func aDatabaseWithAFullDiskIsWaitedFor() async throws { try await run("fleet_disk.py") }

    /// Runs the script with the built command; it fails when a file is lost, wrong or transferred twice.
    private func run(_ script: String, _ options: String...) async throws {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path = root.appendingPathComponent("torture").appendingPathComponent(script).path
        var command = ChildProcess.Command(
            "/usr/bin/env", ["python3", path, "--binary", try TransferCommand.binary()] + options)
        command.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]
        command.timeout = .seconds(280)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 0, "\(result)")
    }
}
