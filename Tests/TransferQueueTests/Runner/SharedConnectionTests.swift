import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferQueue

/// Connections of HTTP/2, which outlive the transfers on them.
@Suite(.timeLimit(.minutes(1))) struct SharedConnectionTests {
    /// The upload is cancelled before the server has answered: the other transfers on the connection end undisturbed.
    @Test(.ofAFolder) func aCancelledUploadLeavesItsConnectionUnchanged() async throws {
        let folder = try TemporaryFolder("shared")
        try folder.write(count: 4_000_000, seed: 1, to: "f")
        let authority = try await TestAuthority.shared()
        var options = NginxServer.Options()
        options.certificate = try await authority.issue().server
        options.allowsWriting = true
        let server = try await NginxServer.start(options: options)
        let relay = try FaultRelay(to: server.port)
        defer { relay.stop() }
        relay.script([.stall(after: 300_000)])
        var upload = Sample.upload(folder.path("f"), to: "https://127.0.0.1:\(relay.port)/f", id: "f")
        upload.settings.tls.ca = authority.anchors
        let job = upload
        try await withQueue(folder) { queue in
            let log = EventLog(queue)
            let staged = try await queue.stage([job])
            let run = Task { try await queue.run([staged]) }
            try await within {
                while relay.stalledCount == 0 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            _ = try QueueRemote(state: folder.path("state"), runtimeFolder: nil).ask(.cancel, batch: "b", job: "f")
            try await log.wait { $0.end?.how == "cancelled" }
            let lingers = Self.lingers(port: relay.port)
            #expect(lingers == [false], "one connection, which is closed as any other")
            _ = try await within { try await run.valueOrEnd() }
        }
        await server.stop()
    }

    /// Returns, for each of this process's connections to a port, whether closing it discards unsent data.
    private static func lingers(port: UInt16) -> [Bool] {
        (3..<Int32(4096)).compactMap { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.baseAddress.map {
                    getpeername(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length)
                }
            }
            guard result == 0, address.sin_family == sa_family_t(AF_INET), UInt16(bigEndian: address.sin_port) == port
            else { return nil }
            var value = linger()
            length = socklen_t(MemoryLayout<linger>.size)
            guard getsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, &length) == 0 else { return nil }
            return value.l_onoff != 0
        }
    }
}
