import Foundation
import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferQueue

/// By itself, as the memory and the processor time of the process are measured.
@Suite(.serialized, .enabled(if: TransferCommand.runsHeavyTests)) struct WatchIdleTests {
    private static let folders = 100
    private static let filesPerFolder = 1000

    @Test(.timeLimit(.minutes(5))) func aHundredThousandKnownFilesAreFoundAgainAndThenNothingRuns() async throws {
        let folder = try TemporaryFolder("idle")
        try await withTestServer { server in
            let spec = try folder.watchSpec(server) { $0.keepFor = nil }
            // The database is made by the first start.
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            try fill(folder)
            try await withWatch(folder, spec) { _, _, log in
                let before = ResidentMemory.kibibytes
                let clock = ContinuousClock()
                let time = await clock.measure { await log.caughtUp() }
                let grown = ResidentMemory.kibibytes - before
                print("100,000 known versions: \(time), \(ResidentMemory.kibibytes) KiB resident (\(grown) more)")
                #expect(time < .seconds(60) && grown < 40 << 10)
                // It's seen to that what is known is still there, once.
                try await rest()
                let used = Self.processorSeconds
                await Self.pass(.seconds(3))
                #expect(Self.processorSeconds - used < 0.05)
            }
            #expect(server.requests.isEmpty)
        }
    }

    /// Until hardly anything runs any more.
    private func rest() async throws {
        for _ in 0..<60 {
            let used = Self.processorSeconds
            await Self.pass(.seconds(1))
            if Self.processorSeconds - used < 0.01 { return }
        }
        Issue.record("something runs on and on")
    }

    /// Files, with rows as if they had been uploaded.
    private func fill(_ folder: TemporaryFolder) throws {
        let places = FolderPlaces(folder.path("in"))
        for number in 0..<Self.folders {
            let name = "folder-\(number)"
            mkdir(folder.path("in/" + name), 0o755)
            var rows: [String] = []
            for file in 0..<Self.filesPerFolder {
                let path = "\(name)/a-file-with-a-name-\(file)"
                close(open(folder.path("in/" + path), O_WRONLY | O_CREAT, 0o644))
                let seen = try #require(places.file(path))
                rows.append(
                    "(1, \(Int64(bitPattern: seen.device)), \(Int64(bitPattern: seen.inode)), 0, \(seen.facts.modified), '\(path)', '\(path)', 1, '', 0, 0)"
                )
            }
            try folder.database.run(
                """
                INSERT INTO ledger (folder, device, inode, size, modified, path, url, state, digest, staged, confirmed)
                VALUES \(rows.joined(separator: ","))
                """)
        }
    }

    private static var processorSeconds: Double {
        Double(clock()) / Double(CLOCKS_PER_SEC)
    }

    /// Time is what is waited for.
    private static func pass(_ time: Duration) async {
        guard let loop = try? EventLoop(name: "time") else { return }
        await withCheckedContinuation { continuation in
            loop.execute {
                let timer = loop.makeTimer { continuation.resume() }
                timer.schedule(at: .now + time)
            }
        }
        loop.stop()
    }
}
