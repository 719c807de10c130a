import Foundation
import Glibc
import Testing
import TransferTestSupport

/// The command in a namespace without any network, which needs root.
@Suite(.enabled(if: getuid() == 0)) struct OfflineTests {
    /// A run without a network, and the output of other processes in its namespace.
    private final class Offline {
        let place: Workplace
        let process: ChildProcess

        init(_ jobs: [String], _ options: String...) throws {
            place = try Workplace()
            try place.jobs(jobs)
            let run = place.command(["run", "jobs.json", "--json"] + options)
            process = try Self.start("/usr/bin/unshare", ["--net"], run)
        }

        static func start(_ tool: String, _ options: [String], _ run: TransferCommand) throws -> ChildProcess {
            try ChildProcess.start(
                .init(
                    tool, options + [try TransferCommand.binary()] + run.arguments, environment: run.environment,
                    workingFolder: run.workingFolder, timeout: run.timeout))
        }

        func command(_ arguments: String...) async throws -> ProcessResult {
            let words = ["--target", "\(process.processID)", "--net"]
            return try await Self.start("/usr/bin/nsenter", words, place.command(arguments)).result()
        }

        func end() async throws {
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    @Test func aWaitingBatchIsOfflineAndItsJobsReportTheReason() async throws {
        let offline = try Offline([
            download("http://a.example/a", to: "a", #""id": "a", "network": {"require": "wg0"}"#),
            download("http://a.example/b", to: "b", #""id": "b""#),
        ])
        try await offline.process.event("batch.waiting") { $0["for"]?.string == "network" }
        try await until("it is offline") {
            try await offline.command("status", "--json").events().first?["state"]?.string == "offline"
        }
        let status = try await offline.command("status", "--json").events()
        #expect(status.first?["waiting"]?.int == 2 && status.first?["waitingFor"]?.string != nil)
        let required = try await offline.command("why", "batch/a")
        let lines = required.standardOutput.split(separator: "\n")
        #expect(lines.first?.hasPrefix("batch/a: waiting for the network, ") == true, "\(required)")
        #expect(required.standardOutput.contains("network.require = \"wg0\""))
        // The place is that of the key's value.
        #expect(required.standardOutput.contains("jobs.json:2:"))
        #expect(required.standardOutput.contains("  attempts  0 of 11 used, none by this wait\n"))
        #expect(required.standardOutput.hasSuffix("  starts    when wg0 appears\n"))
        let any = try await offline.command("why", "batch/b")
        #expect(any.standardOutput.hasSuffix("  starts    when a link is usable\n"), "\(any)")
        try await offline.end()
        let stopped = try await offline.place.run("why", "batch/b")
        #expect(stopped.standardOutput.hasPrefix("batch/b: not running"))
    }

    @Test func theTableReportsAMissingDefaultRoute() async throws {
        let place = try Workplace()
        let command = place.command(["network"])
        let result = try await Offline.start("/usr/bin/unshare", ["--net"], command).result()
        #expect(result.exitCode == 0 && result.standardOutput.contains("default route: none"), "\(result)")
    }

    @Test func followingEndsWithItsReader() async throws {
        let place = try Workplace()
        let script = "{ '\(try TransferCommand.binary())' network --follow; echo $? >ended; } | head -n 1"
        var command = ChildProcess.Command(
            "/usr/bin/unshare", ["--net", "/bin/sh", "-c", script],
            environment: place.command([]).environment, workingFolder: place.folder.path, timeout: .seconds(20))
        command.standardInput = .none
        let result = try await ChildProcess.start(command).result()
        #expect(result.standardOutput.hasPrefix("LINK"))
        let status = try String(decoding: place.content("ended"), as: UTF8.self)
        #expect(status == "0\n")
    }
}
