import Foundation
import Glibc
import Testing
import TransferTestSupport

private let canEmulateLinks = NetworkNamespaces.areWanted && access("/dev/net/tun", F_OK) == 0

/// Transfers over an emulated link in which packets are lost for a while (Tests/link).
@Suite(.serialized, .enabled(if: canEmulateLinks), .timeLimit(.minutes(3)))
struct HoleTests {
    static let cases = [
        "get https 1x12000000 state=hole down.bytes=4000000 10s",
        "get http 16x750000 state=hole down.bytes=4000000 10s",
        "put http 1x12000000 state=hole up.bytes=4000000 10s",
        "get http 1x200000 down.state=hole up.data=1 10s",
        "get https 1x12000000 forget down.bytes=4000000 0s",
        "put http 1x12000000 icmp=0 mtu=1200 up.bytes=4000000 0s",
        "get http 1x12000000 portal=page down.bytes=4000000 5s",
    ]

    @Test(arguments: cases) func continuesAfterTheHole(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../link/holes.py").standardizedFileURL.path
        let command = ChildProcess.Command(
            "/usr/bin/python3", [script, "--slack", "4", "--only", name, try TransferCommand.binary()],
            environment: ["PATH": NetworkNamespaces.searchPath, "TMPDIR": folder.path], timeout: .seconds(150))
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 0, "\(result.standardOutput)\(result.standardError)")
        #expect(result.standardOutput.contains(name), "the case was run")
    }
}
