import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

/// The verbs of the command, carried out by a service.
struct ServiceVerbs {
    let client: ServiceClient

    // MARK: status

    /// Prints the state of batches.
    ///
    /// - Parameter name: One batch; `nil` for all.
    func status(_ name: String?, json: Bool) async throws {
        let rows = try await client.batches().filter { name == nil || $0.name == name }.map(Self.row)
        if let name, rows.isEmpty { throw Failure(.wrongUsage, "no batch \"\(name)\" at \(client.base)") }
        let terminal = Terminal(STDOUT_FILENO, environment: Composition.environment)
        let names = BatchNames(rows.map(\.name))
        let lines =
            json
            ? StatusTable.json(rows)
            : StatusTable.lines(rows, charset: terminal.charset, names: names, width: terminal.tableWidth)
        for line in lines { print(line) }
    }

    static func row(_ batch: ServiceClient.Batch) -> BatchStatusRow {
        BatchStatusRow(
            name: batch.name, state: batch.state, done: batch.done, total: batch.total, failed: batch.failed,
            skipped: batch.skipped, cancelled: batch.cancelled, waiting: batch.waiting, rate: batch.rate,
            eta: batch.eta.map { .seconds($0) }, pid: batch.pid, remaining: batch.remaining,
            waitingFor: batch.waitingFor)
    }

    // MARK: pause, resume, cancel, retry

    private struct Command: Encodable {
        struct Selection: Encodable {
            var batch: String?
            var gids: [String]?
        }

        let action: String
        let select: Selection
    }

    /// Carries out a verb.
    ///
    /// - Parameters:
    ///   - names: `BATCH` or `BATCH/JOB`; empty for every batch.
    ///   - past: The past participle of the verb, for the message.
    func ask(_ verb: QueueVerb, _ names: [String], past: String) async throws {
        let known = try await client.batches().map(\.name)
        if names.isEmpty, known.isEmpty { throw Failure(.wrongUsage, "there is no batch at \(client.base)") }
        var changed = 0
        for name in names.isEmpty ? known : names {
            let select: Command.Selection
            if known.contains(name) {
                select = Command.Selection(batch: name)
            } else {
                select = Command.Selection(gids: [try await gid(name, known)])
            }
            let command = Command(action: verb.rawValue, select: select)
            let steered = try await client.post("steer", command, as: ServiceClient.Steered.self)
            changed += steered.changed
            print("\(name): \(NumberText.count(steered.changed, "job")) \(past) by \(client.base)")
        }
        guard changed > 0 else {
            throw Failure(.someFailed, "no job is \(past): there is none for which that could be done")
        }
    }

    private func gid(_ name: String, _ known: [String]) async throws -> String {
        guard let batch = known.filter({ name.hasPrefix($0 + "/") }).max(by: { $0.count < $1.count }) else {
            throw Failure(.wrongUsage, "no batch \"\(name)\" at \(client.base)")
        }
        let job = String(name.dropFirst(batch.count + 1))
        return try await RemoteReading(client: client, hint: CommandHint()).gid(of: job, in: batch)
    }

    // MARK: run

    /// Lets the service run job files, and waits for their ends.
    ///
    /// - Parameter name: The name of the batch, in place of the file's own.
    func run(_ files: [String], name: String?) async throws -> ExitStatus {
        var keys: [String] = []
        for file in files {
            let bytes = try MappedFile(file == "-" ? "/dev/stdin" : file).withBytes { Array($0) }
            let path = "batches" + (name.map { "?name=\(PercentEncoding.encode($0))" } ?? "")
            let batch = try await ServiceSubmission(client).post(
                path, body: bytes, type: Self.type(of: file), as: ServiceClient.Batch.self)
            StandardError.write("\(batch.name): \(NumberText.count(batch.total, "job")) at \(client.base)\n")
            keys.append(batch.key)
        }
        let loop = try EventLoop(name: "service")
        defer { loop.stop() }
        for await _ in Ticks.every(.milliseconds(500), on: loop) {
            let batches = try await client.batches().filter { keys.contains($0.key) }
            guard batches.allSatisfy({ $0.remaining == 0 }) else { continue }
            for batch in batches {
                print(
                    "\(batch.name): \(NumberText.grouped(batch.done)) of \(NumberText.grouped(batch.total)) done, "
                        + "\(NumberText.grouped(batch.failed)) failed")
            }
            return batches.contains { $0.failed + $0.skipped + $0.cancelled > 0 } ? .someFailed : .complete
        }
        return .workLeft
    }

    private static func type(of file: String) -> String {
        switch JobFileFormat(fileName: file) {
        case .json: "application/json"
        case .jsonLines: "application/x-ndjson"
        case .csv: "text/csv"
        case .metalink: "application/metalink4+xml"
        case .urlList, .plainURLs, .curl, nil: "text/plain"
        }
    }
}
