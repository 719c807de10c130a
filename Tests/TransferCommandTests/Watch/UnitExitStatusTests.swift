import Foundation
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import transfer

/// The agreement of the exit statuses in the units with those of the command.
@Suite struct UnitExitStatusTests {
    private static let units = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("systemd")

    /// Returns the value of a directive that stands in the unit once.
    private func value(
        _ directive: String, of kind: String, unit name: String = "transfer-watch@.service"
    ) throws -> String {
        let text = try String(
            contentsOf: Self.units.appendingPathComponent("\(kind)/\(name)"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix(directive + "=") }
        try #require(lines.count == 1, "\(lines)")
        return String(lines[0].dropFirst(directive.count + 1))
    }

    /// The errors that end a worker or a service, with their exit status, and whether a unit starts it again.
    private static let faults: [(TransferError, Int32, isRestarted: Bool)] = [
        (TransferError(.databaseRefused, "the login is refused"), 78, false),
        (TransferError(.rightMissing, "the login may not work"), 78, false),
        (TransferError(.databaseRefused, "at another time", isTransient: true), 74, true),
        (TransferError(.fileAccess, "a worker of an earlier version works on it"), 74, true),
        (TransferError(.cannotConnect, "away", isTransient: true), 74, true),
        (TransferError(.diskFull, "full"), 74, true),
    ]

    @Test(arguments: faults.indices) func aFaultThatNeedsAPersonIsNotStartedAgain(_ row: Int) throws {
        let (error, status, isRestarted) = Self.faults[row]
        #expect(transfer.ExitStatus.of(error).rawValue == status, "\(error)")
        for (kind, unit) in [
            ("system", "transfer-work@.service"), ("system", "transfer-serve.service"),
            ("user", "transfer-serve.service"), ("system", "transfer-watch@.service"),
            ("user", "transfer-watch@.service"),
        ] {
            #expect(try value("Restart", of: kind, unit: unit) == "on-failure", "\(unit)")
            let prevented = try value("RestartPreventExitStatus", of: kind, unit: unit).split(separator: " ")
            #expect(prevented.contains("\(status)") != isRestarted, "\(kind)/\(unit) \(error)")
            // Wrong usage and faulty or unreadable files end every unit.
            #expect(["64", "65", "66"].allSatisfy { prevented.contains($0[...]) }, "\(kind)/\(unit)")
        }
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
            #expect([failed.exitCode, misused.exitCode, faulty.exitCode, missing.exitCode] == [1, 64, 65, 66])
            #expect(prevented == [1, 64, 65, 66, 78])

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
