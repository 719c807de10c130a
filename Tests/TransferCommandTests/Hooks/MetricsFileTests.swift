import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `--metrics-file`.
@Suite struct MetricsFileTests {
    @Test func aRunLeavesItsMetricsAndNothingBeside() async throws {
        try await withTestServer { server in
            let place = try Workplace("metrics")
            server.serve("/a", .text("abc"))
            server.script("/gone", [], afterwards: .status(404))
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/gone"), to: "b")])
            let result = try await place.runJobs("--metrics-file", "m/run.prom")
            // The folder isn't there.
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.standardError.contains("--metrics-file: can't write"), "\(result)")
            let again = try await place.runJobs("--metrics-file", "run.prom")
            #expect(again.exitCode == 1, "\(again)")
            let text = try place.folder.text("run.prom")
            for line in [
                "transfer_jobs{state=\"done\"} 1", "transfer_jobs{state=\"failed\"} 1",
                "transfer_jobs_ended_total{result=\"failed\",direction=\"download\"} 1",
                "transfer_failures_total{code=\"httpStatus\"} 1",
            ] { #expect(text.contains(line + "\n"), "\(line) in\n\(text)") }
            for name in [
                "transfer_build_info{version=", "transfer_store_size_bytes ", "process_cpu_seconds_total ",
                "process_resident_memory_bytes ", "process_open_fds ", "process_start_time_seconds ",
            ] { #expect(text.contains("\n" + name) || text.hasPrefix(name), "\(name) in\n\(text)") }
            #expect(try place.folder.files().filter { $0.contains(".prom") } == ["run.prom"])
            try await Self.checkWithPromtool(text)
        }
    }

    @Test func theFileIsThereFromTheBeginning() async throws {
        try await withTestServer { server in
            let place = try Workplace("metrics-early")
            server.serve("/a", .text("abc"))
            server.script("/a", [.stall(after: 1)])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs("--metrics-file", "run.prom")
            try await process.event("job.started")
            #expect(FileManager.default.fileExists(atPath: place.folder.path("run.prom")))
            process.kill(SIGTERM)
            _ = try await process.result()
            #expect(try place.folder.text("run.prom").contains("transfer_jobs{state=\"queued\"} 1"))
        }
    }

    @Test func aNameThatNobodyCollectsIsRefused() async throws {
        let place = try Workplace("metrics-name")
        let result = try await place.run("get", "http://127.0.0.1:9/a", "--metrics-file", "run.txt")
        #expect(result.exitCode == 64 && result.standardError.contains("--metrics-file"), "\(result)")
    }

    /// Where Prometheus' own tool is: it's no part of what the tests need.
    private static func checkWithPromtool(_ text: String) async throws {
        let tools = ["/usr/bin/promtool", "/usr/local/bin/promtool"]
        guard let tool = tools.first(where: { access($0, X_OK) == 0 }) else {
            return print("MetricsFileTests: no promtool here, so its check is left out (Debian: prometheus)")
        }
        var command = ChildProcess.Command(tool, ["check", "metrics"])
        command.standardInput = .data(Data(text.utf8))
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 0, "\(result)")
    }
}
