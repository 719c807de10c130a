import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Limits of the process (setrlimit(2)), which lead to a message and an exit status, never to a signal and never to an
/// endless wait.
@Suite(.timeLimit(.minutes(5))) struct ProcessLimitTests {
    static let verbs = [
        "run jobs.json -q", "get URL/new -o new -q --retry 1 --retry-delay 50ms",
        "get URL/new -o parts --segments 4 -q --retry 1 --retry-delay 50ms",
        "put jobs.json URL/up/ -q --retry 1 --retry-delay 50ms", "copy URL/a URL/up/b -q --retry 1 --retry-delay 50ms",
        "watch folder --to URL/up/{name} --once -q --retry 1 --retry-delay 50ms", "status", "why batch/a",
        "verify batch", "network", "validate jobs.json",
    ]

    private static let descriptors = [6, 8, 12, 17, 19, 20, 21, 22, 24, 26, 28, 35]
    private static let memory = [60_000, 100_000, 200_000, 280_000, 330_000, 400_000]

    /// The limits `-v` and the like are in KiB.
    static let limits =
        descriptors.map { "-n \($0)" } + memory.flatMap { ["-v \($0)", "-d \($0)"] }
        + [16, 32, 64, 96, 110, 128, 256].map { "-s \($0)" } + [1, 8, 64, 200, 1_000].map { "-f \($0)" }

    @Test(arguments: limits) func noLimitEndsAVerbByASignal(_ limit: String) async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 10_000))
            server.serve("/new", .random(seed: 2, count: 3_000_000), etag: "\"1\"")
            server.handle("PUT", "/up/*") { _ in Response(status: 201) }
            let place = try Workplace()
            try place.jobs([download(server.url("/a"), to: "a", #""id": "a""#)])
            let first = try await place.run("run", "jobs.json")
            #expect(first.exitCode == 0, "\(first)")
            try place.folder.write("x", to: "folder/x")
            for verb in Self.verbs {
                let words = verb.replacingOccurrences(of: "URL", with: server.url("")).split(separator: " ")
                let result = try await start(place, limit, words.map(String.init)).result()
                #expect(Self.isAnswer(result), "ulimit \(limit); \(verb): \(result)")
            }
        }
    }

    /// Returns whether the result is a proper answer. The loader and Bash have messages of their own, and their own
    /// statuses: 127, and 1 to 126.
    static func isAnswer(_ result: ProcessResult) -> Bool {
        guard let code = result.exitCode else { return false }
        return code == 0 || code < 128 && !result.standardError.isEmpty
    }

    @Test func theServiceReportsALimitBelowItsNeeds() async throws {
        let place = try Workplace()
        for limit in ["-n 26", "-n 30", "-n 40", "-v 300000", "-s 64"] {
            let words = ["serve", "--listen", "127.0.0.1:0", "--state", "state", "--directory", "folder"]
            let result = try await start(place, limit, words).result()
            #expect(result.exitCode == 1 && result.standardError.contains("too "), "ulimit \(limit): \(result)")
        }
    }

    /// The transfer continues or reports why it ends, for each amount of free memory in steps of 256 KiB.
    @Test func exhaustedMemoryIsReportedInWords() async throws {
        try await withTestServer { server in
            for step in 0..<12 {
                let place = try Workplace()
                let names = (0..<6).map { "/\(step)-\($0)" }
                for name in names {
                    server.serve(name, .random(seed: 3, count: 2_000_000), etag: "\"1\"")
                    server.script(name, [.holdHead])
                }
                try place.jobs(
                    names.map { download(server.url($0), to: "to\($0)", #""retry": {"limit": 1, "scale": "10ms"}"#) })
                let process = try place.command(["run", "jobs.json", "--json"]).start()
                try await server.waitForHeld(names.count)
                let used = try #require(ProcessFacts.addressSpace(process.processID))
                let limit = ["--pid", "\(process.processID)", "--as=\(used + Int64(step) * (256 << 10))"]
                let set = try await ChildProcess.start(ChildProcess.Command("/usr/bin/prlimit", limit)).result()
                try #require(set.exitCode == 0, "\(set)")
                server.release()
                let result = try await process.result()
                #expect(Self.isAnswer(result), "\(step): \(result)")
            }
        }
    }

    private func start(_ place: Workplace, _ limit: String, _ arguments: [String]) throws -> ChildProcess {
        let command = place.command(arguments)
        return try ChildProcess.start(
            ChildProcess.Command(
                "/bin/bash", ["-c", "ulimit \(limit); exec \"$@\"", "bash", try TransferCommand.binary()] + arguments,
                environment: command.environment, workingFolder: command.workingFolder, timeout: command.timeout))
    }
}
