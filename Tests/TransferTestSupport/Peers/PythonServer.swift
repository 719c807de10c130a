internal import Foundation
internal import Glibc

/// A server from the Python environment that `scripts/setup peers` makes.
public final class PythonServer: Sendable {
    public let port: UInt16
    private let process: ChildProcess

    /// Whether suites against such servers run: if they are installed, or required (`TRANSFER_PEERS=required`, which
    /// `make check` sets). If required, they fail without them.
    public static let isWanted: Bool = {
        if isInstalled { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        let line = "SKIPPED: the suites against servers from PyPI, as they are not installed (`make setup-peers`)\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }()

    /// - Parameters:
    ///   - arguments: The program's arguments for a given port.
    ///   - program: A program of the environment.
    ///   - mark: A text in the line of output that reports that the server listens.
    public static func start(
        _ arguments: (UInt16) -> [String], program: String = "python", in folder: String,
        environment: [String: String] = [:], mark: String
    ) async throws -> PythonServer {
        guard isInstalled else {
            throw TestSupportError("the servers from PyPI are not installed; `make setup-peers` installs them")
        }
        var failure = ""
        // Another process may take the port before the server does, and then another port is tried.
        for _ in 0..<3 {
            let port = try LoopbackPort.free()
            var variables = [
                "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
            ]
            variables.merge(environment) { $1 }
            let process = try ChildProcess.start(
                ChildProcess.Command(
                    Self.folder + "/bin/" + program, arguments(port), environment: variables, workingFolder: folder,
                    timeout: .seconds(3600)))
            do {
                _ = try await process.line { $0.contains(mark) }
                return PythonServer(port: port, process: process)
            } catch {
                process.kill(SIGKILL)
                failure = (try? await process.result().standardError) ?? "\(error)"
            }
        }
        throw TestSupportError("\(program) \(arguments(0)) does not start: \(failure)")
    }

    private init(port: UInt16, process: ChildProcess) {
        self.port = port
        self.process = process
    }

    deinit { process.kill(SIGTERM) }

    /// Runs a script with the environment's Python, and returns its output.
    public static func run(_ script: String, _ arguments: [String], in folder: String) async throws -> String {
        let command = ChildProcess.Command(
            Self.folder + "/bin/python", ["-c", script] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"],
            workingFolder: folder)
        let result = try await ChildProcess.start(command).result()
        guard result.exitCode == 0 else { throw TestSupportError("the script failed: \(result)") }
        return result.standardOutput
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../.build/peers/python").standardized.path

    /// The list is written last, once all of its packages are installed.
    private static var isInstalled: Bool { FileManager.default.fileExists(atPath: folder + "/installed.txt") }
}
