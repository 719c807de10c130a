internal import Foundation
internal import Glibc

/// httpbin under gunicorn, from the Python environment that `scripts/setup peers` makes: a peer that other authors
/// wrote.
///
///     @Suite(.enabled(if: HTTPBinServer.isWanted))
public final class HTTPBinServer: Sendable {
    private let address: String
    private let process: ChildProcess

    /// Returns the shared server of a test run, which the first caller starts.
    public static func shared() async throws -> HTTPBinServer { try await running.value }

    private static let running = Task { try await start() }

    /// Whether the suites of this server run: if it is installed, or required (`TRANSFER_PEERS=required`, which `make
    /// check` sets). If required, they fail without it.
    public static let isWanted: Bool = {
        if isInstalled { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        let line = "SKIPPED: the suites against httpbin, as it is not installed (`make setup-peers`)\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }()

    public static func start() async throws -> HTTPBinServer {
        guard isInstalled else {
            throw TestSupportError("httpbin is not installed; `make setup-peers` installs it (looked in \(folder))")
        }
        let process = try ChildProcess.start(
            ChildProcess.Command(
                folder + "/bin/python",
                [
                    "-m", "gunicorn", "--bind", "127.0.0.1:0", "--worker-class", "gthread", "--threads", "16",
                    "--no-control-socket", "httpbin:app",
                ],
                environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"],
                workingFolder: NSTemporaryDirectory(), timeout: .seconds(3600)))
        let mark = "Listening at: "
        let line = try await process.line { $0.contains(mark) }
        guard let start = line.range(of: mark)?.upperBound else { throw TestSupportError(line) }
        return HTTPBinServer(address: String(line[start...].prefix { $0 != " " }), process: process)
    }

    private init(address: String, process: ChildProcess) {
        self.address = address
        self.process = process
    }

    /// The workers end with their parent process.
    deinit { process.kill(SIGTERM) }

    public func url(_ path: String) -> String { address + path }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../.build/peers/python").standardized.path

    /// The list is written last, once all of its packages are installed.
    private static var isInstalled: Bool { FileManager.default.fileExists(atPath: folder + "/installed.txt") }
}
