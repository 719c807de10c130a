/// A change of one metric.
package struct Measurement: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        /// Of a counter.
        case add(Int64)
        /// Of a gauge.
        case set(Int64)
        /// Of a histogram of times, in seconds.
        case time(Double)
    }

    package let metric: QueueMetric
    /// In the order of the metric's labels.
    package let labels: [String]
    package let change: Change

    package init(_ metric: QueueMetric, _ labels: [String], _ change: Change) {
        self.metric = metric
        self.labels = labels
        self.change = change
    }
}

/// The metrics that a queue's events tell. The names are the same wherever they are shown.
package enum QueueMetric: String, Sendable, Hashable, CaseIterable {
    case jobsUnderWay = "transfer_jobs"
    case jobsWaiting = "transfer_jobs_waiting"
    case jobsEnded = "transfer_jobs_ended_total"
    case failures = "transfer_failures_total"
    case bytes = "transfer_bytes_total"
    case attempts = "transfer_attempts_total"
    case responses = "transfer_responses_total"
    case throttled = "transfer_throttled_total"
    case jobDuration = "transfer_job_duration_seconds"

    /// The names of its labels.
    package var labels: [String] {
        switch self {
        case .jobsUnderWay: ["state", "direction"]
        case .jobsWaiting: ["reason"]
        case .jobsEnded: ["result", "direction"]
        case .failures: ["code"]
        case .bytes: ["direction", "host"]
        case .attempts: ["protocol", "outcome"]
        case .responses: ["class"]
        case .throttled: ["host"]
        case .jobDuration: ["direction"]
        }
    }
}
