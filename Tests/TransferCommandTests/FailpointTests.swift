import Foundation
import Testing
import TransferTestSupport

/// Steps at which `make torture` kills the command. No other build has them.
@Suite struct FailpointTests {
    private static let header = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .appendingPathComponent("../../../Sources/CTransferLinux/failpoints.h").standardized

    @Test func noFailpointIsInTheCommand() async throws {
        let text = try String(contentsOf: Self.header, encoding: .utf8)
        let names = text.matches(of: #/ point\((\w+)\)/#).map { String($0.1) }
        #expect(names.count > 30 && names.contains("downloadFolderSynced"))
        let folder = try TemporaryFolder("failpoints")
        try folder.write((names + ["TRANSFER_FAILPOINT"]).joined(separator: "\n") + "\n", to: "names")
        let command = ChildProcess.Command(
            "/usr/bin/grep", ["-aowF", "-f", folder.path("names"), try TransferCommand.binary()],
            environment: ["LC_ALL": "C"])
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 1 && result.standardOutput.isEmpty, "\(result)")
    }

    /// The variable that kills the other build has no effect on this one.
    @Test func theFailpointVariableHasNoEffect() async throws {
        let place = try Workplace("failpoints")
        try place.folder.write("x", to: "out")
        try place.jobs([upload("out", to: "http://127.0.0.1:9/x", #""retry": {"limit": 0}"#)])
        var command = place.command(["run", "jobs.json"])
        command.environment["TRANSFER_FAILPOINT"] = "jobClaimed"
        #expect(try await command.run().exitCode == 1)
    }
}
