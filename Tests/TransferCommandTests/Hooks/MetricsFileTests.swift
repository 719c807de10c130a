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
            // The folder does not exist.
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.standardError.contains("--metrics-file: cannot write"), "\(result)")
            let again = try await place.runJobs("--metrics-file", "run.prom")
            #expect(again.exitCode == 1, "\(again)")
            let text = try place.folder.text("run.prom")
            for line in [
                "transfer_jobs{state=\"done\"} 1", "transfer_jobs{state=\"failed\"} 1",
                "transfer_jobs_ended_total{result=\"failed\",direction=\"download\"} 1",
                "transfer_failures_total{code=\"httpStatus\"} 1", "transfer_responses_total{class=\"4xx\"} 1",
                "transfer_connections 0", "transfer_hosts_paused 0", "transfer_leases_lost_total 0",
                "transfer_first_byte_seconds_count 1", "transfer_refetched_bytes_total 0",
            ] { #expect(text.contains(line + "\n"), "\(line) in\n\(text)") }
            for name in [
                "transfer_store_commit_duration_seconds_count ", "transfer_build_info{version=",
                "transfer_store_size_bytes ", "process_cpu_seconds_total ",
                "process_resident_memory_bytes ", "process_open_fds ", "process_start_time_seconds ",
            ] { #expect(text.contains("\n" + name) || text.hasPrefix(name), "\(name) in\n\(text)") }
            // No queued job is left that could be the oldest.
            #expect(!text.contains("transfer_oldest_queued_timestamp_seconds"))
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
            let text = try place.folder.text("run.prom")
            #expect(text.contains("transfer_jobs{state=\"queued\"} 1\n"), "\(text)")
            #expect(text.contains("transfer_jobs{state=\"active\",direction=\"download\"} 0\n"), "\(text)")
            #expect(text.contains("\ntransfer_oldest_queued_timestamp_seconds 1"), "\(text)")
        }
    }

    @Test func theConfigurationNamesTheFileAndTheOptionIsStronger() async throws {
        try await withTestServer { server in
            let place = try Workplace("metrics-config")
            server.serve("/a", .text("abc"))
            let configured = place.folder.path("configured.prom")
            try place.folder.write(#"{"version": 1, "metrics": {"file": "\#(configured)"}}"#, to: "config.json")
            let shown = try await place.run("config", "--config", "config.json")
            #expect(shown.standardOutput.contains("metrics.file") && shown.standardOutput.contains(configured))
            let first = try await place.run("get", server.url("/a"), "-o", "a", "--config", "config.json")
            #expect(first.exitCode == 0, "\(first)")
            let text = try String(contentsOfFile: configured, encoding: .utf8)
            #expect(
                text.contains("transfer_jobs_ended_total{result=\"completed\",direction=\"download\"} 1\n"), "\(text)")
            try FileManager.default.removeItem(atPath: configured)
            let second = try await place.run(
                "get", server.url("/a"), "-o", "b", "--config", "config.json", "--metrics-file", "own.prom")
            #expect(second.exitCode == 0 && place.folder.exists("own.prom"), "\(second)")
            #expect(!FileManager.default.fileExists(atPath: configured))
            // A failed write is reported with the name that the option gave.
            let folder = place.folder.path("none")
            try place.folder.write(#"{"version": 1, "metrics": {"file": "\#(folder)/a.prom"}}"#, to: "config.json")
            let third = try await place.run("get", server.url("/a"), "-o", "c", "--config", "config.json")
            #expect(third.exitCode == 0, "\(third)")
            #expect(third.standardError.contains("\"metrics\" of the configuration: cannot write"), "\(third)")
        }
    }

    @Test func aNameThatNoCollectorReadsIsRefused() async throws {
        let place = try Workplace("metrics-name")
        let result = try await place.run("get", "http://127.0.0.1:9/a", "--metrics-file", "run.txt")
        #expect(result.exitCode == 64 && result.standardError.contains("--metrics-file"), "\(result)")
    }

    /// Checks the text with Prometheus' own tool where it is installed; the tests do not require it.
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
