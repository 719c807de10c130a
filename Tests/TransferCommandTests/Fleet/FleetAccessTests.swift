import Foundation
import Testing
import TransferTestSupport

/// The commands with logins that have one role in the queue each, and no rights on its tables.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetAccessTests {
    @Test func aLoginOfEachRoleDoesTheVerbsOfItsRoleOnly() async throws {
        let server = try await NginxServer.start(options: NginxServer.Options())
        var bytes = SampleBytes(seed: 1)
        try bytes.next(3000).write(to: URL(fileURLWithPath: "\(server.root)/0"))
        let database = try await PostgresServer.shared
        let fleet = try await FleetPlace(on: database)
        let queue = String(fleet.queue.split(separator: "=").last ?? "")
        try fleet.place.jobs([download(server.url("/0"), to: "in/0", #""id": "j0""#)])
        // The owner creates the queue.
        let owner = try fleet.worker("owner")
        try await owner.begins()
        try await fleet.stop(owner)
        func address(of part: String) async throws -> String {
            database.url(queue: queue, login: try await database.login(part, in: queue))
        }
        let (submit, work, read) = (
            try await address(of: "submit"), try await address(of: "work"), try await address(of: "read")
        )
        func run(_ arguments: [String], _ queue: String) async throws -> ProcessResult {
            try await fleet.command(arguments + ["--queue", queue]).run()
        }

        for other in [work, read] {
            let refused = try await run(["run", "jobs.json", "--detach"], other)
            #expect(refused.exitCode != 0 && refused.standardError.contains("'submit')"), "\(refused)")
        }
        #expect(try await run(["run", "jobs.json", "--detach"], submit).exitCode == 0)
        #expect(try await run(["pause", "batch"], read).exitCode != 0)
        #expect(try await run(["pause", "batch"], submit).exitCode == 0)
        #expect(try await run(["resume", "batch"], submit).exitCode == 0)

        let refused = try await run(["work", "--allow-private"], read)
        #expect(refused.exitCode != 0 && refused.standardError.contains("'work')"), "\(refused)")
        _ = try fleet.folder.folder("a")
        let worker = try fleet.command(
            ["work", "--queue", work, "-d", "a", "--allow-private", "--lease", "3s", "--json", "-v"]
        ).start()
        try await worker.begins()
        for own in [read, submit] {
            for verb in [["wait", "batch"], ["status", "batch"], ["why", "batch/j0"]] {
                let result = try await run(verb, own)
                #expect(result.exitCode == 0, "\(verb): \(result)")
            }
            let status = try await run(["status", "--json"], own)
            #expect(status.standardOutput.contains(#""batch":"batch""#), "\(status)")
        }
        // A run with the same login shows the progress of the jobs.
        let again = try await run(["run", "jobs.json", "--json"], submit)
        #expect(again.exitCode == 0, "\(again)")
        try await fleet.stop(worker)
        #expect(try fleet.folder.data("a/in/0").count == 3000)
        #expect(try await run(["forget", "batch"], submit).exitCode == 0)
        await server.stop()
    }
}
