public import CoreMetrics
import Synchronization
public import TransferQueue

/// Counts what a queue does, by swift-metrics.
///
/// ```swift
/// import TransferMetrics
/// import TransferQueue
///
/// let queue = try await TransferQueue.open(.init(state: "/var/lib/mirror"))
/// let metrics = QueueMetrics(of: queue)
/// ```
///
/// The names and labels are those of the command's metrics, so that one board shows both:
///
/// | metric | kind | labels |
/// | --- | --- | --- |
/// | `transfer_jobs` | gauge | `state` (`running`), `direction` |
/// | `transfer_jobs_waiting` | gauge | `reason`: of a batch's waiting jobs all count for what most of them wait for |
/// | `transfer_jobs_ended_total` | counter | `result` (`completed`, `kept`, `failed`, `skipped`, `cancelled`, `dropped`), `direction` |
/// | `transfer_failures_total` | counter | `code` of the `TransferError` |
/// | `transfer_bytes_total` | counter | `direction`, `host` |
/// | `transfer_attempts_total` | counter | `protocol`, `outcome` (`completed`, `retried`, `failed`) |
/// | `transfer_responses_total` | counter | `class` (`2xx` …) |
/// | `transfer_throttled_total` | counter | `host` that asked for a pause |
/// | `transfer_job_duration_seconds` | timer | `direction` |
///
/// A direction is `download` or `upload`, and `unknown` of a job that ended before it began. The first hundred hosts have
/// a label of their own, and all others are `other`. No URL, file or name is a label.
public final class QueueMetrics: Sendable {
    private struct State {
        var measurements = QueueMeasurements()
        var counters: [Series: Counter] = [:]
        var gauges: [Series: Gauge] = [:]
        var timers: [Series: Timer] = [:]
    }

    private struct Series: Hashable {
        let metric: QueueMetric
        let labels: [String]
    }

    private let factory: any MetricsFactory
    private let state = Mutex(State())

    /// Begins to count; it counts as long as the queue is open.
    ///
    /// - Parameters:
    ///   - queue: A queue, best before it runs: what was before isn't counted.
    ///   - factory: Where the metrics go; `nil` takes the one that the program has bootstrapped.
    public init(of queue: JobQueue, factory: (any MetricsFactory)? = nil) {
        self.factory = factory ?? MetricsSystem.factory
        queue.observe { [self] event in record(event) }
    }

    /// On the queue's thread, in the order of the events.
    private func record(_ event: QueueEvent) {
        state.withLock { state in
            for change in state.measurements.changes(by: event) { apply(change, &state) }
        }
    }

    private func apply(_ measurement: Measurement, _ state: inout State) {
        let series = Series(metric: measurement.metric, labels: measurement.labels)
        let label = measurement.metric.rawValue
        let dimensions = Array(zip(measurement.metric.labels, measurement.labels))
        switch measurement.change {
        case .add(let amount):
            let counter = state.counters[series] ?? Counter(label: label, dimensions: dimensions, factory: factory)
            state.counters[series] = counter
            counter.increment(by: amount)
        case .set(let value):
            let gauge = state.gauges[series] ?? Gauge(label: label, dimensions: dimensions, factory: factory)
            state.gauges[series] = gauge
            gauge.record(value)
        case .time(let seconds):
            let timer = state.timers[series] ?? Timer(label: label, dimensions: dimensions, factory: factory)
            state.timers[series] = timer
            timer.recordSeconds(seconds)
        }
    }
}
