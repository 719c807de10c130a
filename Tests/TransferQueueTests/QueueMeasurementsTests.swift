import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue

/// The effect of a queue's events on its metrics, without a queue.
@Suite struct QueueMeasurementsTests {
    private func event(_ kind: QueueEvent.Kind, batch: String = "b") -> QueueEvent {
        QueueEvent(time: 0, batch: batch, kind: kind)
    }

    private func start(_ job: String, _ host: String = "a.example", offset: Int64 = 0) -> QueueEvent {
        event(.started(job: job, JobStart(isUpload: false, url: "https://\(host)/x/y?z", offset: offset, attempt: 1)))
    }

    private func progress(_ job: String, _ bytes: Int64) -> QueueEvent {
        event(.progress(job: job, JobProgress(completed: bytes, total: nil, rate: 0, phase: .transferring)))
    }

    private func sum(_ changes: [Measurement], _ metric: QueueMetric, _ labels: [String]) -> Int64 {
        changes.reduce(0) { sum, change in
            guard change.metric == metric, change.labels == labels, case .add(let amount) = change.change else {
                return sum
            }
            return sum + amount
        }
    }

    @Test func bytesAreCountedOnceForEveryKindOfTransfer() {
        var measurements = QueueMeasurements()
        var receipt = Sample.receipt("b", "x")
        receipt.bytes = 100
        let way = [
            start("x", offset: 10), progress("x", 30), progress("x", 30), progress("x", 50),
            event(.retrying(job: "x", delay: .zero, Sample.busy())), start("x", offset: 55), progress("x", 60),
            event(.finished(receipt)),
        ]
        let changes = way.flatMap { measurements.changes(by: $0) }
        #expect(sum(changes, .bytes, ["download", "a.example"]) == 90)
        #expect(sum(changes, .attempts, ["https", "retried"]) == 1)
        #expect(sum(changes, .responses, ["5xx"]) == 1)
        #expect(changes.last?.change == .time(0.5))
    }

    private func progress(_ job: String, _ bytes: Int64, _ sources: [(String, Int64)]) -> QueueEvent {
        var progress = JobProgress(completed: bytes, total: nil, rate: 0, phase: .transferring)
        progress.sources = sources.map { JobSource(url: "https://\($0.0)/x", connections: 1, bytes: $0.1) }
        return event(.progress(job: job, progress))
    }

    /// The transfer has a beginning by one server, a break, and an end.
    @Test func bytesOfSeveralServersAreCountedForTheirSenders() {
        var measurements = QueueMeasurements()
        var receipt = Sample.receipt("b", "x")
        receipt.bytes = 1000
        receipt.sources = [("a.example", 330), ("b.example", 500), ("c.example", 100)].map {
            JobSource(url: "https://\($0)/x", connections: 1, bytes: $1)
        }
        let way = [
            // 60 bytes come by an attempt that asked one server alone.
            start("x", offset: 10), progress("x", 70),
            event(.retrying(job: "x", delay: .zero, Sample.busy())), start("x", offset: 70),
            progress("x", 170), progress("x", 300, [("a.example", 130), ("b.example", 100)]),
            progress("x", 400, [("a.example", 130), ("b.example", 200)]),
            // A different attempt begins with this server.
            event(.retrying(job: "x", delay: .zero, Sample.busy())), start("x", "b.example", offset: 450),
            progress("x", 470, [("a.example", 180), ("b.example", 200), ("c.example", 50)]),
            event(.finished(receipt)),
        ]
        let changes = way.flatMap { measurements.changes(by: $0) }
        #expect(sum(changes, .bytes, ["download", "a.example"]) == 60 + 330)
        #expect(sum(changes, .bytes, ["download", "b.example"]) == 500)
        #expect(sum(changes, .bytes, ["download", "c.example"]) == 100)
    }

    @Test func aFailureCountsTheBytesOfItsServers() {
        var measurements = QueueMeasurements(mostHosts: 2)
        var failure = JobFailure(batch: "b", job: "x", error: Sample.busy(), attempts: 1, host: "a.example")
        failure.sources = ["a", "b", "c", "d"].map {
            JobSource(url: "https://\($0).example/x", connections: 1, bytes: 10)
        }
        let changes = [start("x"), event(.failed(failure))].flatMap { measurements.changes(by: $0) }
        #expect(sum(changes, .bytes, ["download", "a.example"]) == 10)
        #expect(sum(changes, .bytes, ["download", "b.example"]) == 10)
        #expect(sum(changes, .bytes, ["download", "other"]) == 20)
    }

    @Test func transfersUnderWayFallWithEachKindOfEnd() {
        var measurements = QueueMeasurements()
        func underWay(_ events: QueueEvent...) -> Double? {
            events.flatMap { measurements.changes(by: $0) }.reversed().compactMap { change -> Double? in
                guard change.metric == .jobs, change.labels[0] == "active", case .set(let value) = change.change else {
                    return nil
                }
                return value
            }.first
        }
        #expect(underWay(start("a"), start("b"), start("c"), start("d")) == 4)
        #expect(underWay(event(.waiting(job: "a", .paused))) == 3)
        // A repeated report is not new.
        #expect(underWay(event(.waiting(job: "a", .network("no link")))) == nil)
        #expect(underWay(start("a")) == 4)
        #expect(underWay(event(.cancelled(job: "a"))) == 3)
        #expect(underWay(event(.finished(Sample.receipt("b", "b")))) == 2)
        #expect(underWay(event(.retrying(job: "c", delay: .zero, Sample.busy()))) == 1)
        #expect(underWay(event(.dropped(job: "d"))) == 0)
    }

    @Test func hostsBeyondTheMostAreOneForGood() {
        var measurements = QueueMeasurements(mostHosts: 2)
        func host(_ job: String, _ host: String) -> String? {
            _ = measurements.changes(by: start(job, host))
            return measurements.changes(by: progress(job, 1)).first?.labels.last
        }
        #expect(
            ["1.example", "2.example", "3.example", "2.example", "4.example"].enumerated().map {
                host("\($0.offset)", $0.element)
            }
                == ["1.example", "2.example", "other", "2.example", "other"])
    }

    @Test func waitingJobsAreCountedByReasonOverAllBatches() {
        var measurements = QueueMeasurements()
        func waits(_ batch: String, _ count: Int, _ reason: WaitReason?) -> [String: Double] {
            var progress = BatchProgress()
            progress.waiting = count
            progress.waitReason = reason
            return Dictionary(
                measurements.changes(by: event(.batchProgress(progress), batch: batch)).compactMap { change in
                    guard change.metric == .jobsWaiting, case .set(let value) = change.change else { return nil }
                    return (change.labels[0], value)
                }, uniquingKeysWith: { $1 })
        }
        #expect(waits("a", 3, .slot) == ["slot": 3])
        #expect(waits("b", 2, .network("no link")) == ["slot": 3, "network": 2])
        #expect(waits("a", 1, .network("no link")) == ["slot": 0, "network": 3])
        #expect(waits("b", 0, nil) == ["slot": 0, "network": 1])
    }

    @Test func aJobThatNeverBeganHasNoDirection() {
        var measurements = QueueMeasurements()
        let changes = measurements.changes(by: event(.skipped(job: "x", need: "y")))
        #expect(changes == [Measurement(.jobsEnded, ["skipped", "unknown"], .add(1))])
        for metric in QueueMetric.allCases {
            let (name, kind) = (metric.rawValue, metric.entry.kind)
            #expect(name.hasPrefix("transfer_") && metric.entry.help.hasSuffix("."))
            #expect(name.hasSuffix("_total") == (kind == .counter), "\(name)")
            #expect(
                metric.entry.bounds.isEmpty == (kind != .histogram)
                    && metric.entry.bounds.sorted() == metric.entry.bounds)
        }
    }
}
