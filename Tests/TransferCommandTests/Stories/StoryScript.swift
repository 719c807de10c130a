import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A user's story as a shell script, which uses only commands from README and the manual pages.
struct StoryScript {
    let place: Workplace
    let server: TestServer

    init(_ name: String, _ server: TestServer) throws {
        place = try Workplace(name)
        self.server = server
    }

    /// Runs lines of a script in the workplace; `transfer` is the built command, and `$SERVER` the server's URL.
    ///
    /// - Returns: The result; a failed line ends the script with its status.
    func run(_ lines: String) async throws -> ProcessResult {
        let sample = place.command([])
        let binary = try TransferCommand.binary()
        var environment = sample.environment
        environment["SERVER"] = server.url("")
        let folder = URL(fileURLWithPath: binary).deletingLastPathComponent().path
        environment["PATH"] = folder + ":" + (environment["PATH"] ?? "")
        let shell = ChildProcess.Command(
            "/bin/bash", ["-eu", "-o", "pipefail", "-c", lines], environment: environment,
            workingFolder: place.folder.path, timeout: .seconds(60))
        return try await ChildProcess.start(shell).result()
    }

    @discardableResult
    func succeed(_ lines: String) async throws -> ProcessResult {
        let result = try await run(lines)
        #expect(result.exitCode == 0, "\(lines): \(result)")
        return result
    }
}
