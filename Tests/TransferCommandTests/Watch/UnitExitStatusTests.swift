import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The agreement of the exit statuses in the units with those of the command.
@Suite struct UnitExitStatusTests {
    private static let units = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("systemd")

    /// Returns the value of a directive that stands in the unit once.
    private func value(_ directive: String, of kind: String) throws -> String {
        let text = try String(
            contentsOf: Self.units.appendingPathComponent("\(kind)/transfer-watch@.service"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix(directive + "=") }
        try #require(lines.count == 1, "\(lines)")
        return String(lines[0].dropFirst(directive.count + 1))
    }

    @Test(arguments: ["system", "user"])
    func onlyRepairableFailuresAreStartedAgain(_ kind: String) async throws {
        #expect(try value("Restart", of: kind) == "on-failure")
        let prevented = try Set(value("RestartPreventExitStatus", of: kind).split(separator: " ").map { Int32($0) })
        try await withTestServer { server in
            let place = try Workplace()
            try place.jobs([download(server.url("/gone"), to: "gone")])
            try place.folder.write(#"{"version": 1, "wacth": []}"#, to: "faulty.json")
            let failed = try await place.run("run", "jobs.json")
            let misused = try await place.run("run", "jobs.json", "--no-such-option")
            let faulty = try await place.run("run", "faulty.json")
            let missing = try await place.run("run", "missing.json")
            #expect(prevented == [failed.exitCode, misused.exitCode, faulty.exitCode, missing.exitCode])
            #expect(prevented == [1, 64, 65, 66])

            try place.folder.write("no folder", to: "file")
            let stateless = try await place.run("run", "jobs.json", "--state", place.folder.path("file"))
            server.serve("/held", .text("held"))
            server.script("/held", [.holdHead])
            try place.jobs([download(server.url("/held"), to: "held")], name: "held")
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            let second = try await place.runJobs()
            server.release()
            let complete = try await process.result()
            #expect([stateless.exitCode, second.exitCode] == [74, 75], "\(stateless) \(second)")
            #expect(prevented.isDisjoint(with: [stateless.exitCode, second.exitCode]))
            // The end is no failure, so that the service is not started again either.
            #expect(complete.exitCode == 0, "\(complete)")
        }
    }
}
