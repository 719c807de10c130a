/// The values of a queue's metrics: the sum of all changes so far.
package struct MetricTable: Sendable {
    private var values: [QueueMetric: [[String]: MetricFamily.Value]] = [:]

    package init() {}

    package mutating func apply(_ measurements: [Measurement]) {
        for measurement in measurements { apply(measurement) }
    }

    package mutating func apply(_ measurement: Measurement) {
        let (metric, labels) = (measurement.metric, measurement.labels)
        let value = values[metric]?[labels]
        switch measurement.change {
        case .add(let more):
            let sum = if case .number(let sum)? = value { sum } else { 0.0 }
            values[metric, default: [:]][labels] = .number(sum + Double(more))
        case .set(let new): values[metric, default: [:]][labels] = .number(new)
        case .gone: values[metric]?[labels] = nil
        case .time(let seconds):
            var histogram =
                if case .histogram(let known)? = value { known } else { Histogram(bounds: metric.entry.bounds) }
            histogram.observe(seconds)
            values[metric, default: [:]][labels] = .histogram(histogram)
        }
    }

    /// All known values, each metric once.
    package var families: [MetricFamily] {
        QueueMetric.allCases.map { metric in
            let entry = metric.entry
            return MetricFamily(entry.kind, metric.rawValue, entry.help, entry.labels, values[metric] ?? [:])
        }
    }
}
