import Foundation
import Glibc
import Testing
import TransferTestSupport

/// `transfer network`, and the cost of a waiting queue.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct NetworkCommandTests {
    @Test func followsChangesOfTheLinks() async throws {
        try await NetworkStage.with { stage in
            let process = try stage.command("network", "--follow", "--json").start()
            try await process.line(.standardOutput) { $0.contains("10.0.0.2") }
            for number in 3..<6 {
                // The order matters: with its first address the kernel deletes the other addresses of the same network.
                try await stage.client.ip(
                    "address del 10.0.0.\(number - 1)/24 dev eth0", "address add 10.0.0.\(number)/24 dev eth0")
                let changed = ContinuousClock.now
                let line = try await process.line(.standardOutput) {
                    $0.contains("10.0.0.\(number)") && !$0.contains("10.0.0.\(number - 1)")
                }
                printMeasured("a line for another address", since: changed)
                #expect(throws: Never.self) { try JSONValue.parse(Data(line.utf8)) }
            }
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    @Test func showsTheLinksAsATable() async throws {
        try await NetworkStage.with { stage in
            try await stage.network.connect("wwan0", 1, metric: 900)
            let result = try await stage.command("network").run()
            #expect(result.exitCode == 0, "\(result)")
            for word in ["eth0", "wwan0", "10.0.0.2", "10.0.1.2", "metered"] {
                #expect(result.standardOutput.contains(word), "no \(word): \(result)")
            }
        }
    }

    /// The queue waits for a network for ten seconds: it is woken at most twice a second, all threads together.
    @Test(.enabled(if: TransferCommand.runsHeavyTests)) func aWaitingQueueSleeps() async throws {
        try await NetworkStage.with(isConnected: false) { stage in
            try stage.place.jobs((0..<100).map { download(stage.url("/file?\($0)"), to: "f\($0)") })
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            // The process comes to rest first; then ten seconds of the clock show that nothing happens.
            try await Task.sleep(for: .seconds(2))
            let before = try ProcessFacts.wakes(process.processID)
            // The clock decides here as well.
            try await Task.sleep(for: .seconds(10))
            let count = try ProcessFacts.wakes(process.processID, since: before)
            print("measured: \(Double(count) / 10) wakes a second")
            #expect(count <= 20)
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(result.processorTime < .seconds(2), "\(result)")
        }
    }
}
