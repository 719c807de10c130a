import Foundation
import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// Bytes that count as sent have left, or are about to: the kernel holds few bytes that wait for room in the network.
@Suite(.timeLimit(.minutes(1))) struct UnsentLimitTests {
    /// A connection of our own small uploads, and one of libcurl.
    @Test(arguments: [5, 3_000_000]) func theKernelKeepsLittleOfAnUpload(_ count: Int) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.holdHead])
            let path = try bench.folder.write(count: count, seed: 1, to: "source")
            let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path))) { $0.joinsSmallBodies = true }
            try await bench.server.waitForHeld(1)
            #expect(try unsentLimits(port: bench.server.port) == [16 << 10])
            bench.server.release()
            #expect(try await attempt.end().head?.status == 201)
        }
    }
}

@Suite(.enabled(if: FileServerPeer.isWanted), .timeLimit(.minutes(1))) struct FileServerUnsentLimitTests {
    @Test(arguments: [FileServerPeer.Kind.sftp, .ftp]) func theKernelKeepsLittleForAFileServer(
        _ kind: FileServerPeer.Kind
    ) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench async throws in
            let source = try bench.folder.write(count: 100_000, seed: 1, to: "source")
            let outcome = try await bench.send(
                "PUT", peer.url("x"), body: .file(try SourceFile(source)), peer.configure
            ).end()
            #expect(outcome.error == nil)
            // The connection is kept for the next exchange.
            let port = try #require(peer.ssh?.port ?? peer.ftp?.port)
            #expect(try unsentLimits(port: port) == [16 << 10])
        }
    }
}

/// Returns TCP_NOTSENT_LOWAT of this process's connections to a port of this machine.
private func unsentLimits(port: UInt16) throws -> [Int32] {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
    return descriptors.compactMap { descriptor in
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout.size(ofValue: address))
        let isConnected = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.baseAddress.map { getpeername(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) } == 0
        }
        guard isConnected, address.sin_family == AF_INET, UInt16(bigEndian: address.sin_port) == port else {
            return nil
        }
        var limit: Int32 = 0
        length = socklen_t(MemoryLayout.size(ofValue: limit))
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, &length) == 0 else { return nil }
        return limit
    }
}
