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
/// The names and labels are those of the command's `--metrics-file`, so that one board shows both:
///
/// | metric | kind | labels |
/// | --- | --- | --- |
/// | `transfer_build_info` | gauge | `version`, `libcurl` |
/// | `transfer_jobs` | gauge | `state` (`queued`, `active`, `waiting`, `done`, `failed`, `skipped`, `cancelled`), `direction` of those that are active, else empty |
/// | `transfer_jobs_waiting` | gauge | `reason` |
/// | `transfer_oldest_queued_timestamp_seconds` | gauge | none; when the oldest job that hasn't ended was first seen |
/// | `transfer_connections` | gauge | none; those that carry a transfer |
/// | `transfer_hosts_paused` | gauge | none |
/// | `transfer_link_up` | gauge | `link`, `kind` |
/// | `transfer_link_metered` | gauge | `link` |
/// | `transfer_store_size_bytes` | gauge | none |
/// | `transfer_folder_pending_files` | gauge | `folder` |
/// | `transfer_folder_last_upload_timestamp_seconds` | gauge | `folder` |
/// | `transfer_jobs_ended_total` | counter | `result` (`completed`, `kept`, `failed`, `skipped`, `cancelled`, `dropped`), `direction` |
/// | `transfer_failures_total` | counter | `code` of the `TransferError` |
/// | `transfer_bytes_total` | counter | `direction`, `host` |
/// | `transfer_refetched_bytes_total` | counter | none |
/// | `transfer_attempts_total` | counter | `protocol`, `outcome` (`completed`, `retried`, `failed`) |
/// | `transfer_responses_total` | counter | `class` (`2xx` …) |
/// | `transfer_throttled_total` | counter | `host` that asked for a pause |
/// | `transfer_link_bytes_total` | counter | `link`, `direction` |
/// | `transfer_leases_lost_total` | counter | none |
/// | `transfer_hooks_total` | counter | `outcome` (`reported`, `retried`, `failed`) |
/// | `transfer_folder_uploads_total` | counter | `folder`, `result` |
/// | `transfer_job_duration_seconds` | timer | `direction` |
/// | `transfer_first_byte_seconds` | timer | none |
/// | `transfer_store_commit_duration_seconds` | timer | none |
///
/// A direction is `download` or `upload`, and `unknown` of a job that ended before it began. The first hundred hosts have
/// a label of their own, and all others are `other`; so have the first fifty watched folders. No URL and no job is a
/// label. Gauges are told when a batch's report is made: once a second while something runs, once a minute otherwise.
public final class QueueMetrics: Sendable {
    private struct State {
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
        queue.measure { [self] changes in
            state.withLock { state in
                for change in changes { apply(change, &state) }
            }
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
        case .gone: state.gauges.removeValue(forKey: series)?.destroy()
        case .time(let seconds):
            let timer = state.timers[series] ?? Timer(label: label, dimensions: dimensions, factory: factory)
            state.timers[series] = timer
            timer.recordSeconds(seconds)
        }
    }
}
