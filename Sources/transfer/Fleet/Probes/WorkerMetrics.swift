import Synchronization
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue

/// The metrics of a worker, and those of its whole queue, in Prometheus' text form.
final class WorkerMetrics: Sendable {
    /// The last state of the whole queue, and the connection for the next one.
    private struct Census {
        var observer: FleetObserver?
        var last: FleetCensus?
        var read: MonotonicTime?
        var isFailing = false
    }

    private let address: FleetAddress
    private let settings: WorkerSettings
    private let warn: @Sendable (String) -> Void
    private let table = Mutex(MetricTable())
    private let census = Mutex(Census())

    /// The time in which several requests get the same state of the queue, so that they cost the database one query.
    private static let freshness = Duration.seconds(5)

    /// - Parameter warn: A function that gets the reason why the queue cannot be read; once until it can be read again.
    init(_ address: FleetAddress, _ settings: WorkerSettings, warn: @escaping @Sendable (String) -> Void) {
        self.address = address
        self.settings = settings
        self.warn = warn
    }

    /// Begins to measure the queue of a shift. Counts of earlier shifts stay.
    func listen(to queue: JobQueue) {
        queue.measure {
            WatchBatch.folder(of: $0)
        } _: { [weak self] changes in
            self?.table.withLock { $0.apply(changes) }
        }
    }

    /// Returns the metrics. The function blocks until the database has answered.
    ///
    /// - Parameter asksDatabase: Whether the database is available. The metrics of the whole queue are left out where
    ///   they are not known.
    func text(asksDatabase: Bool) -> String {
        let families = table.withLock { $0.families }
        let queue = asksDatabase ? current().map(FleetMetrics.families) ?? [] : []
        return PrometheusText.text(
            families + [FleetMetrics.places(settings.limits)] + queue + ProcessMetrics.families)
    }

    private func current() -> FleetCensus? {
        census.withLock { state in
            let now = MonotonicTime.now
            if let read = state.read, now - read < Self.freshness { return state.last }
            do {
                let observer = try state.observer ?? FleetObserver(address)
                state.observer = observer
                state.last = try observer.census()
                state.isFailing = false
            } catch {
                if !state.isFailing {
                    warn("metrics of the whole queue are missing: \((error as? TransferError)?.message ?? "\(error)")")
                }
                (state.isFailing, state.observer, state.last) = (true, nil, nil)
            }
            state.read = .now
            return state.last
        }
    }
}

/// The metrics of a whole queue, by which the number of workers can follow its work.
enum FleetMetrics {
    static func families(_ census: FleetCensus) -> [MetricFamily] {
        let alive = census.workers.filter { $0.lease > .zero }
        let lost = census.workers.count - alive.count
        return [
            gauge(
                "transfer_queue_ready_jobs", "The number of jobs of the whole queue that a worker could start.",
                ["tags"],
                // Jobs that ask for no tag have a series also while there is none.
                [[""]: .number(0)].merging(pairs(census.ready) { Double($0.jobs) }) { $1 }),
            gauge(
                "transfer_queue_oldest_ready_timestamp_seconds",
                "The time when the oldest job that a worker could start came into the queue.", ["tags"],
                pairs(census.ready) { Double($0.oldest) / 1000 }),
            gauge(
                "transfer_queue_claimed_jobs", "The number of jobs that all workers have claimed.", [],
                [[]: .number(Double(census.workers.reduce(0) { $0 + $1.claimed }))]),
            gauge(
                "transfer_queue_places_in_use", "The number of transfers under way of all workers.", [],
                [[]: .number(Double(alive.reduce(0) { $0 + $1.active }))]),
            gauge(
                "transfer_workers", "The number of workers whose lease holds (alive), and of those that are lost.",
                ["state"], [["alive"]: .number(Double(alive.count)), ["lost"]: .number(Double(lost))]),
        ]
    }

    /// Returns the number of transfers that this worker may have at once.
    static func places(_ limits: BatchLimits) -> MetricFamily {
        gauge(
            "transfer_worker_places", "The number of transfers that this worker may have at once.", [],
            [[]: .number(Double(limits.concurrency ?? BatchLimits.concurrency))])
    }

    private static func pairs(
        _ ready: [FleetCensus.ReadyJobs], _ value: (FleetCensus.ReadyJobs) -> Double
    ) -> [[String]: MetricFamily.Value] {
        var values: [[String]: MetricFamily.Value] = [:]
        for jobs in ready { values[[jobs.tags.text]] = .number(value(jobs)) }
        return values
    }

    private static func gauge(
        _ name: String, _ help: String, _ labels: [String], _ values: [[String]: MetricFamily.Value]
    ) -> MetricFamily {
        MetricFamily(.gauge, name, help, labels, values)
    }
}
