import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Repeated `kill -9` of the command, against nginx with a large file and many small ones.
@Suite struct KillTests {
    struct Size: Sendable {
        var large: Int
        var small: Int
        var kills: Int
    }

    static let sizes =
        [Size(large: 32 << 20, small: 20, kills: 5)]
        + (TransferCommand.runsHeavyTests ? [Size(large: 1 << 30, small: 200, kills: 10)] : [])

    /// The record of consecutive runs until one ends normally; each earlier one is killed at its own random moment.
    private struct Record {
        /// The jobs that were reported as finished before a kill.
        var finished: Set<String> = []
        /// The size of the partial file at each kill; `nil` where there was none.
        var written: [Int64?] = []
        /// The starts of the requested ranges of the large file, for each run.
        var starts: [[Int64]] = []
        private var seen = 0

        mutating func add(_ log: [AccessLogEntry]) {
            let all = log.filter { $0.uri == "/large" }.map { $0.rangeStart ?? 0 }
            starts.append(Array(all[seen...]))
            seen = all.count
        }
    }

    @Test(arguments: sizes) func everyKillCostsAtMostWhatWasNotDurable(_ size: Size) async throws {
        let place = try Workplace("kill")
        // The rate is that of a network, so that the kills come while there is work left.
        var options = NginxServer.Options()
        options.limitRate = "\(size.large / 2)"
        options.server = "location = /connections { stub_status; access_log off; }"
        let server = try await NginxServer.start(options: options)
        let names = (0..<size.small).map { "small/\($0)" }
        try await make(size, server.root, names)
        var sums: [String: String] = [:]
        for name in ["large"] + names { sums[name] = try await sum("\(server.root)/\(name)") }
        try place.jobs(
            (["large"] + names).map { name in
                download(
                    server.url("/\(name)"), to: "in/\(name)",
                    #""id": "\#(name.replacingOccurrences(of: "/", with: "-"))", "checksum": "sha256:\#(sums[name] ?? "")""#
                )
            })

        var record = Record()
        var generator = SplitMix(seed: UInt64(size.kills))
        for kill in 0..<size.kills {
            let process = try place.command([
                "run", "jobs.json", "--json", "-j", "4", "--limit-rate", size.kills > 5 ? "150M" : "6M",
            ]).start()
            try await process.event("batch.started")
            // A kill comes at a random moment of a run, which depends on a clock and on no event.
            try await Task.sleep(for: .milliseconds(Int64(generator.next() % UInt64(kill == 0 ? 150 : 400))))
            process.kill(SIGKILL)
            let result = try await process.result()
            #expect(result.signal == SIGKILL, "it ended before kill \(kill): \(result)")
            record.finished.formUnion(try complete(result).named("job.finished").compactMap { $0["id"]?.string })
            try await until("nginx to have noticed") {
                try await shell("curl -s \(server.url("/connections"))").hasPrefix("Active connections: 1 ")
            }
            record.add(try server.accessLog())
            record.written.append(place.folder.size("in/large.part"))
            #expect(!place.folder.exists("in/large") || record.written.last == .some(nil))
        }
        let recorded = record.finished
        let before = try server.accessLog().count
        let last = try await place.runJobs("-j", "4")
        #expect(last.exitCode == 0, "\(last)")
        await server.stop()
        record.add(try server.accessLog())

        for (name, expected) in sums {
            #expect(try await place.folder.sha256("in/\(name)") == expected, "\(name)")
        }
        #expect(try place.folder.files(below: "in").allSatisfy { !$0.hasSuffix(".part") })
        checkRepeats(record)
        let after = try server.accessLog()[before...].map {
            String($0.uri.dropFirst()).replacingOccurrences(of: "/", with: "-")
        }
        #expect(recorded.isDisjoint(with: after), "fetched again: \(recorded.intersection(after))")
        #expect(try last.events().ends.count == size.small + 1)
    }

    /// Checks that the requested ranges start at most 32 MiB in total before the end of the written bytes.
    private func checkRepeats(_ record: Record) {
        var repeated: Int64 = 0
        var written: Int64 = 0
        for (run, starts) in record.starts.enumerated() {
            // A run that was killed before its request leaves the partial file of the run before it.
            if run > 0 { written = record.written[run - 1] ?? written }
            if let first = starts.first { repeated += max(0, written - first) }
        }
        #expect(repeated <= 32 << 20, "\(repeated >> 10) KiB again: from \(record.starts) of \(record.written)")
        #expect(record.starts.joined().contains { $0 > 0 }, "nothing was continued: \(record.starts)")
    }

    /// Returns the complete lines: the kill may have cut the last line.
    private func complete(_ result: ProcessResult) throws -> [JSONValue] {
        let text = result.standardOutput
        return try JSONLines.values(String(text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]))
    }

    private func make(_ size: Size, _ root: String, _ names: [String]) async throws {
        try FileManager.default.createDirectory(atPath: root + "/small", withIntermediateDirectories: true)
        try await shell(
            "openssl enc -aes-128-ctr -K 00 -iv 00 -in /dev/zero 2>/dev/null | head -c \(size.large) > \(root)/large")
        for (index, name) in names.enumerated() {
            var bytes = SampleBytes(seed: UInt64(index))
            try bytes.next(1000 + index * 137).write(to: URL(fileURLWithPath: "\(root)/\(name)"))
        }
    }

    private func sum(_ path: String) async throws -> String {
        String(try await shell("sha256sum \(path)").prefix(64))
    }

    @discardableResult
    private func shell(_ line: String) async throws -> String {
        let result = try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", line])).result()
        #expect(result.exitCode == 0, "\(result)")
        return result.standardOutput
    }
}

/// SplitMix64: random moments that are the same in each run of the tests.
struct SplitMix {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
