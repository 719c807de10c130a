/// A change of one metric.
package struct Measurement: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        /// An increment of a counter.
        case add(Int64)
        /// The value of a gauge.
        case set(Double)
        /// The end of a gauge: the object that its labels name no longer exists.
        case gone
        /// An entry in a histogram of times, in seconds.
        case time(Double)
    }

    package let metric: QueueMetric
    /// The label values, in the order of the metric's label names.
    package let labels: [String]
    package let change: Change

    package init(_ metric: QueueMetric, _ labels: [String], _ change: Change) {
        self.metric = metric
        self.labels = labels
        self.change = change
    }
}
