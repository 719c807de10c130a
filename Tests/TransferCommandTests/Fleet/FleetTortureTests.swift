import Foundation
import Testing
import TransferTestSupport

/// Workers are killed, put to sleep and cut off, and the database crashes: `make torture-fleet` does more of it.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(5))) struct FleetTortureTests {
    @Test func nothingIsLostRecordedTwiceOrWrongAndNoWorkerNeedsAHand() async throws {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        var command = ChildProcess.Command(
            "/usr/bin/env",
            [
                "python3", root.appendingPathComponent("torture/fleet.py").path, "--binary",
                try TransferCommand.binary(), "--kills", TransferCommand.runsHeavyTests ? "200" : "20",
            ])
        command.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]
        command.timeout = .seconds(280)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 0, "\(result)")
    }
}
