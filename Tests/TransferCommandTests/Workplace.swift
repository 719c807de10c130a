import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// A working folder for the command: its own state, its own job files, no influence of the machine.
final class Workplace: Sendable {
    let folder: TemporaryFolder

    init(_ name: String = "command") throws { folder = try TemporaryFolder(name) }

    /// Defaults with retries without a wait, so that a test of retries takes no time.
    static let quickRetries = #""defaults": {"retry": {"scale": 0, "jitter": false}}, "#

    /// Writes `jobs.json` with these jobs in the batch `batch`.
    @discardableResult
    func jobs(_ jobs: [String], extra: String = Workplace.quickRetries, name: String = "batch") throws -> String {
        let list = jobs.joined(separator: ",\n  ")
        return try folder.write(
            #"{"version": 1, "name": "\#(name)", \#(extra)"jobs": [\#n  \#(list)\#n]}\#n"#, to: "jobs.json")
    }

    /// Returns the command without a terminal, but with UTF-8: a dumb terminal would get ASCII.
    func command(_ arguments: [String]) -> TransferCommand {
        var command = TransferCommand(arguments, in: folder)
        command.environment["TERM"] = "xterm"
        return command
    }

    func run(_ arguments: String...) async throws -> ProcessResult { try await command(arguments).run() }

    /// Runs `transfer run jobs.json --json` with further options, to its end.
    func runJobs(_ options: String...) async throws -> ProcessResult {
        try await command(["run", "jobs.json", "--json"] + options).run()
    }

    func startJobs(_ options: String...) throws -> ChildProcess {
        try command(["run", "jobs.json", "--json"] + options).start()
    }

    /// Returns the entries of the folder except the job file, which shows that nothing was touched.
    func traces() throws -> [String] { try folder.files().filter { $0 != "jobs.json" } }

    func content(_ name: String) throws -> [UInt8] { [UInt8](try folder.data(name)) }

    /// Runs `status` or so for one batch: `--json` prints only JSON, so a name suffices to read it.
    func status(_ options: String...) async throws -> [JSONValue] {
        try await command(["status", "--json"] + options).run().events()
    }
}

/// Returns a download with further members: `, "checksum": …`.
func download(_ url: String, to path: String, _ more: String = "") -> String {
    #"{"download": "\#(url)", "to": "\#(path)"\#(more.isEmpty ? "" : ", " + more)}"#
}

func upload(_ path: String, to url: String, _ more: String = "") -> String {
    #"{"upload": "\#(path)", "to": "\#(url)"\#(more.isEmpty ? "" : ", " + more)}"#
}

extension [JSONValue] {
    func named(_ event: String) -> [JSONValue] { filter { $0["event"]?.string == event } }
    func of(_ id: String) -> [JSONValue] { filter { $0["id"]?.string == id } }

    /// The end of each job: its ID and the last part of the event's name.
    var ends: [String: String] {
        var ends: [String: String] = [:]
        for event in self {
            guard let name = event["event"]?.string, let id = event["id"]?.string else { continue }
            if Self.endNames.contains(name) { ends[id] = (ends[id].map { $0 + "+" } ?? "") + name.dropFirst(4) }
        }
        return ends
    }

    private static var endNames: [String] {
        ["job.finished", "job.kept", "job.skipped", "job.cancelled", "job.failed"]
    }
}

extension ChildProcess {
    /// Waits for the first event that matches, from the beginning of the output.
    @discardableResult
    func event(_ name: String, id: String? = nil, where matches: (JSONValue) -> Bool = { _ in true }) async throws
        -> JSONValue
    {
        var found: JSONValue?
        _ = try await line(.standardOutput) { line in
            guard let value = try? JSONValue.parse(Data(line.utf8)), value["event"]?.string == name,
                id == nil || value["id"]?.string == id, matches(value)
            else { return false }
            found = value
            return true
        }
        return try #require(found)
    }
}

/// Waits for a state that no event reports, like an external process: the condition is checked again every few
/// milliseconds.
func until(_ what: String, within limit: Duration = .seconds(20), _ isTrue: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + limit
    while !(try await isTrue()) {
        guard ContinuousClock.now < deadline else { throw TestSupportError("waited \(limit) in vain for \(what)") }
        // The other process has no event for the test; the next check is a moment later.
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// Returns digests of known bytes, such as SHA-256, by the system's own commands.
func digest(_ algorithm: String, _ bytes: [UInt8]) async throws -> String {
    let folder = try TemporaryFolder("digest")
    let file = try folder.write(Data(bytes), to: "f")
    let command = ChildProcess.Command("/usr/bin/\(algorithm)sum", ["--", file])
    let output = try await ChildProcess.start(command).result().standardOutput
    return try String(#require(output.split(separator: " ").first))
}
