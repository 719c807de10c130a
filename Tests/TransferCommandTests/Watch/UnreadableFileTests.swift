import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Files that are put into a watched folder before they may be read.
@Suite(.timeLimit(.minutes(2))) struct UnreadableFileTests {
    @Test(arguments: [("/in/", "/in/f"), ("/in/{sha256}", digest)])
    func aFileThatMayBeReadLaterIsUploadedThen(_ to: String, _ path: String) async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try watch.write("hello", to: "f")
            try #require(chmod(watch.folder.path("out/f"), 0) == 0)
            let process = try start(watch.command(to: to))
            try await process.event("job.retrying")
            #expect(server.requests.isEmpty)
            try #require(chmod(watch.folder.path("out/f"), 0o644) == 0)
            try await process.confirmed("f")
            try await watch.stop(process)
            #expect(watch.sink.uploads.map(\.path) == [path])
            #expect(server.requests.count { $0.method == "PUT" } == 1)
        }
    }

    /// The digest of "hello".
    private static let digest = "/in/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    /// Starts the command without root's right to read every file.
    private func start(_ command: TransferCommand) throws -> ChildProcess {
        guard geteuid() == 0 else { return try command.start() }
        return try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/setpriv",
                ["--bounding-set=-dac_override,-dac_read_search", try TransferCommand.binary()] + command.arguments,
                environment: command.environment, workingFolder: command.workingFolder))
    }
}
