import Foundation
import Testing
import TransferTestSupport

@testable import TransferQueue
@testable import TransferServer

/// Slow clients of several kinds: they lose their connections, and other clients are not affected.
@Suite(.timeLimit(.minutes(1))) struct SlowClientTests {
    @Test(arguments: ["silent", "head", "body", "idle", "deaf"])
    func aSlowClientLosesItsConnectionAndOthersAreServed(_ kind: String) async throws {
        let folder = try TemporaryFolder("slow")
        _ = try folder.folder("files")
        let queue = try await JobQueue.open(QueueConfiguration(state: folder.path("state")))
        let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
        var access = AccessRules()
        access.isOpen = true
        var configuration = ServerConfiguration(
            address: try ListenAddress("127.0.0.1:0"), access: access,
            rules: OutsideRules(directory: folder.path("files")))
        configuration.limits.requestTime = .milliseconds(400)
        let server = try TransferServer(queue, remote, configuration)
        let run = Task { try await server.run() }
        let port = try #require("\(server.address)".split(separator: ":").last.map(String.init))
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Clients/slow.py"
        let client = try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/python3", [script, port, kind, "/"], environment: ["PATH": "/usr/bin:/bin"],
                timeout: .seconds(30)))
        _ = try await client.line(.standardOutput) { $0 == "connected" }
        let other = try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/curl", ["-sS", "--noproxy", "*", "--max-time", "10", "http://127.0.0.1:\(port)/healthz"],
                environment: ["PATH": "/usr/bin:/bin"])
        ).result()
        #expect(other.exitCode == 0, "\(other)")
        let result = try await client.result()
        #expect(result.lines.last == "closed" && result.exitCode == 0, "\(result)")
        run.cancel()
        _ = await run.result
        await queue.close()
    }
}
