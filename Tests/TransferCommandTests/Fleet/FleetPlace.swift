import Foundation
import Glibc
import Testing
import TransferTestSupport

/// A queue in a database, with those who bring jobs and those who do them: all on this machine, each with a folder of its own.
final class FleetPlace: Sendable {
    let place: Workplace
    /// The address of the queue.
    let queue: String
    /// The schema of its tables.
    let schema: String

    /// - Parameter server: A database of the test's own, where it's to be killed.
    init(_ name: String = "fleet", on server: PostgresServer? = nil) async throws {
        place = try Workplace(name)
        let queue = UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        schema = "transfer_\(queue)"
        if let server {
            self.queue = server.url(queue: queue)
        } else {
            self.queue = try await PostgresServer.shared.url(queue: queue)
        }
    }

    var folder: TemporaryFolder { place.folder }

    /// Starts a worker whose files lie in the folder of that name. It speaks JSON.
    func worker(_ name: String, _ options: String...) throws -> ChildProcess {
        _ = try folder.folder(name)
        return try command(
            ["work", "--queue", queue, "-d", name, "--allow-private", "--lease", "3s", "--json", "-v"] + options
        ).start()
    }

    func command(_ arguments: [String]) -> TransferCommand {
        var command = place.command(arguments)
        command.timeout = .seconds(120)
        return command
    }

    /// A command that takes the queue.
    func run(_ verb: String, _ arguments: String...) async throws -> ProcessResult {
        try await command([verb] + arguments + ["--queue", queue]).run()
    }

    /// Brings `jobs.json` into the queue, to be done by nobody yet.
    func bring() async throws {
        let result = try await run("run", "jobs.json", "--detach")
        #expect(result.exitCode == 0, "\(result)")
    }

    func status(_ options: String...) async throws -> [JSONValue] {
        try await command(["status", "--json", "--queue", queue] + options).run().events()
    }

    /// The workers, as `status` tells of them.
    func workers() async throws -> [JSONValue] { try await status().filter { $0["worker"] != nil } }

    /// The batch of the jobs, as `status` tells of it.
    func batch() async throws -> JSONValue? { try await status().first { $0["batch"] != nil } }

    /// Ends workers as their machines' managers do.
    func stop(_ workers: ChildProcess...) async throws {
        for worker in workers { worker.kill(SIGTERM) }
        for worker in workers {
            let result = try await worker.result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }
}

extension ChildProcess {
    /// Waits until a worker says that it works.
    func begins() async throws { _ = try await line { $0.contains("working on postgres://") } }
}
