import Foundation
import Testing
import TransferTestSupport

/// Whole runs of the queue in virtual time (`Tests/simulation`), in a process of their own.
@Suite struct SimulationTests {
    @Test func noSeedHasAFault() async throws {
        // Any first seed must do: a new one in each run finds what earlier runs did not.
        let seed = UInt64.random(in: 1...1_000_000_000)
        let output = try await Self.simulate(["--seed", "\(seed)", "--runs", "100", "--jobs", "2"])
        #expect(output.contains("100 runs from seed \(seed): 0 with faults []"), "\(output)")
    }

    /// Hashes, the order of threads, delays and file systems must not differ between two runs.
    @Test func aSeedRepeatsItsRunToTheLastStep() async throws {
        let first = try await Self.simulate(["--seed", "78", "--runs", "1", "--verbose", "--alone"])
        let second = try await Self.simulate(["--seed", "78", "--runs", "1", "--verbose", "--alone"])
        let trace = try #require(Self.trace(first))
        #expect(trace == Self.trace(second))
        #expect(first.contains("process 1 starts"))
    }

    @Test func anotherSeedIsAnotherRun() async throws {
        let first = try await Self.simulate(["--seed", "78", "--runs", "1", "--verbose", "--alone"])
        let second = try await Self.simulate(["--seed", "79", "--runs", "1", "--verbose", "--alone"])
        #expect(Self.trace(first) != Self.trace(second))
    }

    private static func trace(_ output: String) -> String? {
        output.split(separator: "\n").first { $0.contains("steps, trace") }
            .flatMap { $0.split(separator: " ").last.map(String.init) }
    }

    private static func simulate(_ arguments: [String]) async throws -> String {
        let command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-simulation"), arguments,
            workingFolder: FileManager.default.temporaryDirectory.path, timeout: .seconds(300))
        return try await ChildProcess.start(command).result().standardOutput
    }
}
