import CoreMetrics
import Logging
import MetricsTestKit
import Testing
import TransferMetrics
import TransferQueue
import TransferTestSupport
import TransferTesting

/// The metrics of a queue that swift-metrics receives.
@Suite(.timeLimit(.minutes(1))) struct QueueMetricsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("metrics") }

    private func settings() -> JobSettings {
        var settings = JobSettings()
        settings.retry.scale = .milliseconds(1)
        settings.retry.maxDelay = .milliseconds(5)
        return settings
    }

    @Test func aRunIsCountedByEndsBytesAttemptsAndTimes() async throws {
        try await withScriptedServer { server in
            server.serve("/a", .random(count: 200_000))
            server.serve("/b", .random(count: 100_000))
            server.script("/b", [.cut(after: 50_000), .status(503, headers: ["Retry-After": "0"])])
            server.acceptUploads("/up")
            try folder.write("twelve bytes", to: "u")
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let queue = try await TransferQueue.open(.init(state: folder.path("state"), logger: logger))
            let factory = TestMetrics()
            let metrics = QueueMetrics(of: queue, factory: factory)
            var jobs: [JobHandle] = []
            for name in ["a", "b", "none"] {
                jobs.append(
                    try await queue.submit(
                        .download(server.url("/\(name)"), to: folder.path(name), settings: settings()), batch: "b"))
            }
            jobs.append(try await queue.submit(.upload(folder.path("u"), to: server.url("/up")), batch: "b"))
            let run = Task { try await queue.run() }
            for job in jobs { _ = try? await job.receipt() }
            run.cancel()
            try await run.value
            await queue.close()
            _ = metrics

            func total(_ label: String, _ dimensions: [(String, String)]) -> Int64 {
                factory.counterTotal(label: label, dimensions: dimensions)
            }
            let host = "127.0.0.1:\(server.port)"
            #expect(total("transfer_jobs_ended_total", [("result", "completed"), ("direction", "download")]) == 2)
            #expect(total("transfer_jobs_ended_total", [("result", "completed"), ("direction", "upload")]) == 1)
            #expect(total("transfer_jobs_ended_total", [("result", "failed"), ("direction", "download")]) == 1)
            #expect(total("transfer_failures_total", [("code", "httpStatus")]) == 1)
            #expect(total("transfer_bytes_total", [("direction", "download"), ("host", host)]) == 300_000)
            #expect(total("transfer_bytes_total", [("direction", "upload"), ("host", host)]) == 12)
            #expect(total("transfer_attempts_total", [("protocol", "http"), ("outcome", "completed")]) == 3)
            #expect(total("transfer_attempts_total", [("protocol", "http"), ("outcome", "retried")]) == 2)
            #expect(total("transfer_attempts_total", [("protocol", "http"), ("outcome", "failed")]) == 1)
            #expect(total("transfer_responses_total", [("class", "4xx")]) == 1)
            #expect(total("transfer_responses_total", [("class", "5xx")]) == 1)
            #expect(total("transfer_throttled_total", [("host", host)]) == 1)
            let durations = try factory.expectTimer("transfer_job_duration_seconds", [("direction", "download")])
            #expect(durations.values.count == 2)
            let running = try factory.expectGauge("transfer_jobs", [("state", "active"), ("direction", "download")])
            #expect(running.values.max() ?? 0 >= 1 && running.lastValue == 0)
            // A metric that no event reports.
            #expect(total("transfer_link_bytes_total", [("link", "lo"), ("direction", "upload")]) == 12)
            #expect(total("transfer_leases_lost_total", []) == 0)
            #expect(try factory.expectTimer("transfer_first_byte_seconds").values.count == 6)
            #expect(try !factory.expectTimer("transfer_store_commit_duration_seconds").values.isEmpty)
            #expect(try factory.expectGauge("transfer_connections").lastValue != nil)
            #expect(try factory.expectGauge("transfer_hosts_paused").lastValue == 0)
            #expect(try factory.expectGauge("transfer_store_size_bytes").lastValue ?? 0 > 0)
            // No URL and no file name is a label.
            let labels = factory.counters.flatMap { $0.dimensions.map(\.1) }
            #expect(!labels.contains { $0.contains("/") })
        }
    }
}
