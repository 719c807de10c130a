import Foundation
import Glibc
import Testing
import TransferTestSupport

/// A queue in a database, with its submitters and workers: all on this machine, each with a folder of its own.
final class FleetPlace: Sendable {
    let place: Workplace
    /// The address of the queue.
    let queue: String
    /// The schema of its tables.
    let schema: String

    /// - Parameter server: A database of the test's own, for a test that kills it.
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

    /// Starts a worker whose files lie in the folder of that name. Its output is JSON. Unless an option says otherwise,
    /// it gives its jobs back at once when it is asked to end.
    func worker(_ name: String, _ options: String...) throws -> ChildProcess {
        _ = try folder.folder(name)
        return try command(
            ["work", "--queue", queue, "-d", name, "--allow-private", "--lease", "3s", "--drain", "0", "--json", "-v"]
                + options
        ).start()
    }

    func command(_ arguments: [String]) -> TransferCommand {
        var command = place.command(arguments)
        command.timeout = .seconds(120)
        return command
    }

    /// Runs a command with the queue's address.
    func run(_ verb: String, _ arguments: String...) async throws -> ProcessResult {
        try await command([verb] + arguments + ["--queue", queue]).run()
    }

    /// Submits `jobs.json` to the queue, without a worker.
    func bring() async throws {
        let result = try await run("run", "jobs.json", "--detach")
        #expect(result.exitCode == 0, "\(result)")
    }

    func status(_ options: String...) async throws -> [JSONValue] {
        try await command(["status", "--json", "--queue", queue] + options).run().events()
    }

    /// Returns the workers, as `status` reports them.
    func workers() async throws -> [JSONValue] { try await status().filter { $0["worker"] != nil } }

    /// Returns the batch of the jobs, as `status` reports it.
    func batch() async throws -> JSONValue? { try await status().first { $0["batch"] != nil } }

    /// Ends workers as a service manager does.
    func stop(_ workers: ChildProcess...) async throws {
        for worker in workers { worker.kill(SIGTERM) }
        for worker in workers {
            let result = try await worker.result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }
}

extension ChildProcess {
    /// Waits until a worker reports that it works.
    func begins() async throws { _ = try await line { $0.contains("working on postgres://") } }
}
