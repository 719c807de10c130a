import Testing
import TransferCore
import TransferJobs
import TransferQueueFixtures

@testable import TransferQueue

/// The metrics that result from a queue's events.
@Suite struct QueueMetricsTests {
    private func metrics(_ kinds: [QueueEvent.Kind], batch: String = "b") -> String {
        var measurements = QueueMeasurements { $0.hasPrefix("watch:") ? String($0.dropFirst(6)) : nil }
        var table = MetricTable()
        table.apply(QueueMeasurements.beginning)
        for kind in kinds {
            table.apply(measurements.changes(by: QueueEvent(time: 1_700_000_000_500, batch: batch, kind: kind)))
        }
        return PrometheusText.text(table.families)
    }

    private func start(_ job: String, _ host: String = "h.example", offset: Int64 = 0) -> QueueEvent.Kind {
        .started(job: job, JobStart(isUpload: false, url: "https://\(host)/x", offset: offset, attempt: 1))
    }

    private func progress(_ job: String, _ completed: Int64) -> QueueEvent.Kind {
        .progress(job: job, JobProgress(completed: completed, total: nil, rate: 0, phase: .transferring))
    }

    private func receipt(_ job: String, bytes: Int64 = 100, seconds: Double = 0.2, isUpload: Bool = false) -> JobReceipt
    {
        JobReceipt(
            batch: "b", job: job, isUpload: isUpload, bytes: bytes, transferred: bytes, seconds: seconds,
            finalURL: "https://h.example/x", path: "/x", status: 200, attempts: 1)
    }

    @Test func jobsAreCountedByState() {
        var totals = BatchTotals()
        (totals.jobs, totals.completed, totals.kept, totals.failed) = (10, 2, 1, 1)
        var progress = BatchProgress()
        (progress.totals, progress.active, progress.waiting) = (totals, 2, 3)
        (progress.waitReason, progress.waitingForReason) = (.network("offline"), 2)
        let text = metrics([.batchStarted(totals), start("a"), start("b"), .batchProgress(progress)])
        for (state, count) in [("queued", 1), ("waiting", 3), ("done", 3), ("failed", 1)] {
            #expect(text.contains("transfer_jobs{state=\"\(state)\"} \(count)\n"), "\(text)")
        }
        #expect(text.contains("transfer_jobs{state=\"active\",direction=\"download\"} 2\n"), "\(text)")
        #expect(text.contains("transfer_jobs_waiting{reason=\"network\"} 2\n"))
        #expect(text.contains("transfer_jobs_waiting{reason=\"other\"} 1\n"))
    }

    @Test func bytesAreCountedOnceAndAsTheyCome() {
        let begun = [start("a"), progress("a", 40)]
        #expect(metrics(begun).contains("transfer_bytes_total{direction=\"download\",host=\"h.example\"} 40\n"))
        let done = begun + [progress("a", 100), .finished(receipt("a"))]
        #expect(metrics(done).contains("transfer_bytes_total{direction=\"download\",host=\"h.example\"} 100\n"))
        // The transfer resumes at byte 40 after a failure.
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        let again = begun + [.retrying(job: "a", delay: .zero, lost), start("a", offset: 40), .finished(receipt("a"))]
        #expect(metrics(again).contains("transfer_bytes_total{direction=\"download\",host=\"h.example\"} 100\n"))
        #expect(metrics(again).contains("transfer_attempts_total{protocol=\"https\",outcome=\"retried\"} 1\n"))
        #expect(metrics(again).contains("transfer_attempts_total{protocol=\"https\",outcome=\"completed\"} 1\n"))
        let anew = begun + [.restarted(job: "a", reason: "it changed"), progress("a", 10)]
        #expect(metrics(anew).contains("transfer_refetched_bytes_total 40\n"))
        #expect(metrics(anew).contains("transfer_bytes_total{direction=\"download\",host=\"h.example\"} 50\n"))
    }

    @Test func endsFailuresAndWaitsOfServersAreCounted() {
        let busy = TransferError(
            .httpStatus, "503", cause: .http(status: 503), isTransient: true, retryAfter: .seconds(1))
        let gone = TransferError(.httpStatus, "404", cause: .http(status: 404))
        let text = metrics([
            start("a"), .retrying(job: "a", delay: .seconds(1), busy), start("a"), .finished(receipt("a")),
            start("b"), .failed(JobFailure(batch: "b", job: "b", error: gone, attempts: 1, host: nil)),
            .skipped(job: "c", need: "b"), .cancelled(job: "d"), .kept(receipt("e")),
        ])
        for line in [
            "transfer_jobs_ended_total{result=\"completed\",direction=\"download\"} 1",
            "transfer_jobs_ended_total{result=\"kept\",direction=\"download\"} 1",
            "transfer_jobs_ended_total{result=\"failed\",direction=\"download\"} 1",
            "transfer_jobs_ended_total{result=\"skipped\",direction=\"unknown\"} 1",
            "transfer_jobs_ended_total{result=\"cancelled\",direction=\"unknown\"} 1",
            "transfer_failures_total{code=\"httpStatus\"} 1",
            "transfer_throttled_total{host=\"h.example\"} 1", "transfer_responses_total{class=\"2xx\"} 1",
            "transfer_responses_total{class=\"4xx\"} 1", "transfer_responses_total{class=\"5xx\"} 1",
            "transfer_job_duration_seconds_bucket{direction=\"download\",le=\"0.1\"} 0",
            "transfer_job_duration_seconds_bucket{direction=\"download\",le=\"0.5\"} 1",
            "transfer_job_duration_seconds_bucket{direction=\"download\",le=\"+Inf\"} 1",
            "transfer_job_duration_seconds_sum{direction=\"download\"} 0.2",
            "transfer_job_duration_seconds_count{direction=\"download\"} 1",
        ] { #expect(text.contains(line + "\n"), "\(line) in\n\(text)") }
    }

    @Test func theHundredAndFirstHostIsAnotherOneForGood() {
        var kinds: [QueueEvent.Kind] = []
        for number in 0..<120 { kinds += [start("\(number)", "h\(number).example"), progress("\(number)", 1)] }
        kinds += [progress("3", 3), progress("110", 3)]
        let text = metrics(kinds)
        let hosts = text.split(separator: "\n").filter { $0.hasPrefix("transfer_bytes_total{") }
        #expect(hosts.count == 101)
        #expect(text.contains("host=\"other\"} 22\n") && text.contains("host=\"h3.example\"} 3\n"), "\(text)")
        #expect(!text.contains("h110.example"))
    }

    @Test func watchedFoldersHaveTheirOwn() {
        var totals = BatchTotals()
        (totals.jobs, totals.completed) = (5, 1)
        let text = metrics(
            [.batchStarted(totals), .finished(receipt("a", isUpload: true))], batch: "watch:/srv/\"out\\")
        #expect(text.contains(#"transfer_folder_pending_files{folder="/srv/\"out\\"} 4"#), "\(text)")
        #expect(text.contains(#"transfer_folder_uploads_total{folder="/srv/\"out\\",result="completed"} 1"#))
        #expect(
            text.contains(#"transfer_folder_last_upload_timestamp_seconds{folder="/srv/\"out\\"} 1700000000.5"#))
    }

    /// A stop gives jobs back without an event; the last report says that nothing is under way.
    @Test func jobsReturnedByAStopAreNotUnderWay() {
        var totals = BatchTotals()
        totals.jobs = 2
        var progress = BatchProgress()
        progress.totals = totals
        let text = metrics([.batchStarted(totals), start("a"), .batchProgress(progress)])
        #expect(text.contains("transfer_jobs{state=\"active\",direction=\"download\"} 0\n"), "\(text)")
        #expect(text.contains("transfer_jobs{state=\"queued\"} 2\n"), "\(text)")
    }

    @Test func aRemovedLinkHasNoSeries() {
        var table = MetricTable()
        table.apply([
            Measurement(.linkUp, ["eth0", "ethernet"], .set(1)), Measurement(.linkUp, ["wwan0", "wwan"], .set(0)),
            Measurement(.linkUp, ["wwan0", "wwan"], .gone), Measurement(.firstByte, [], .time(0.003)),
            Measurement(.firstByte, [], .time(200)),
        ])
        let text = PrometheusText.text(table.families)
        #expect(text.contains("transfer_link_up{link=\"eth0\",kind=\"ethernet\"} 1\n") && !text.contains("wwan0"))
        #expect(text.contains("transfer_first_byte_seconds_bucket{le=\"0.001\"} 0\n"), "\(text)")
        #expect(text.contains("transfer_first_byte_seconds_bucket{le=\"0.005\"} 1\n"), "\(text)")
        #expect(text.contains("transfer_first_byte_seconds_bucket{le=\"60\"} 1\n"), "\(text)")
        #expect(text.contains("transfer_first_byte_seconds_count 2\n"), "\(text)")
    }

    @Test func eachFamilyIsWrittenOnceWithItsTypeAndNoTime() {
        let text = metrics([start("a"), .finished(receipt("a"))])
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        #expect(Set(types).count == types.count && types.contains("# TYPE transfer_jobs_ended_total counter"))
        let values = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            values.allSatisfy { $0.split(separator: "}").last.map { $0.split(separator: " ").count <= 2 } ?? false })
    }
}
