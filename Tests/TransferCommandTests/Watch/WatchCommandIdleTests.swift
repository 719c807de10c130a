import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// The cost of the command while nothing happens.
@Suite(.serialized, .enabled(if: TransferCommand.runsHeavyTests)) struct WatchCommandIdleTests {
    @Test(.timeLimit(.minutes(10))) func aHundredThousandFilesCostNoProcessorTimeAndLittleMemory() async throws {
        let place = try Workplace("idle")
        for number in 0..<100_000 {
            if number % 1000 == 0 { try place.folder.folder("out/folder-\(number / 1000)") }
            close(open(place.folder.path("out/\(Self.path(number))"), O_WRONLY | O_CREAT, 0o644))
        }
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*", keepsBytes: false)
            for round in 0..<2 {
                var command = place.command(["watch", "out", "--recursive", "--to", server.url("/in/"), "--json"])
                command.timeout = .seconds(500)
                let process = try command.start()
                if round == 0 {
                    try await until("all uploads", within: .seconds(400)) { sink.uploads.count >= 100_000 }
                } else {
                    try await process.event("watch.caughtUp")
                }
                try await rest(process.processID)
                let used = try ProcessFacts.processorTicks(process.processID)
                try await Task.sleep(for: .seconds(3))  // Time is what is waited for.
                #expect(try ProcessFacts.processorTicks(process.processID) == used)
                let memory = try #require(ProcessFacts.residentMemory(process.processID))
                print("100,000 files, start \(round + 1): \(memory >> 20) MiB resident")
                #expect(memory < 80_000_000)
                process.kill(SIGTERM)
                let result = try await process.result()
                #expect(result.exitCode == 0, "\(result.standardError)")
            }
            #expect(sink.uploads.count == 100_000, "the second start sent nothing")
        }
    }

    private static func path(_ number: Int) -> String { "folder-\(number / 1000)/a-file-with-a-name-\(number)" }

    /// Waits until hardly any work is left: known files are searched for, ends are recorded.
    private func rest(_ process: Int32) async throws {
        for _ in 0..<120 {
            let used = try ProcessFacts.processorTicks(process)
            try await Task.sleep(for: .seconds(1))  // Time is what is waited for.
            if try ProcessFacts.processorTicks(process) == used { return }
        }
        Issue.record("something runs on and on")
    }
}
