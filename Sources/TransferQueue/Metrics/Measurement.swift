/// A change of one metric.
package struct Measurement: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        /// Of a counter.
        case add(Int64)
        /// Of a gauge.
        case set(Double)
        /// Of a gauge: there is nothing any more that these labels stand for.
        case gone
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
