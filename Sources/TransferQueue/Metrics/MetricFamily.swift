/// One metric: a name, and its values by what its labels say.
package struct MetricFamily: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case gauge, counter, histogram
    }

    package enum Value: Sendable, Hashable {
        case number(Double)
        case histogram(Histogram)
    }

    package struct Series: Sendable, Hashable {
        /// One for each of the family's labels.
        package let labels: [String]
        package let value: Value
    }

    package let name: String
    package let help: String
    package let kind: Kind
    package let labels: [String]
    /// By their labels, in order.
    package let series: [Series]

    private init(
        _ kind: Kind, _ name: String, _ help: String, _ labels: [String], _ values: [[String]: Value]
    ) {
        (self.kind, self.name, self.help, self.labels) = (kind, name, help, labels)
        series = values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { Series(labels: $0.key, value: $0.value) }
    }

    package static func gauge(
        _ name: String, _ help: String, _ labels: [String], _ values: [[String]: Double]
    ) -> MetricFamily {
        MetricFamily(.gauge, name, help, labels, values.mapValues { .number($0) })
    }

    package static func counter(
        _ name: String, _ help: String, _ labels: [String], _ values: [[String]: Double]
    ) -> MetricFamily {
        MetricFamily(.counter, name, help, labels, values.mapValues { .number($0) })
    }

    package static func histogram(
        _ name: String, _ help: String, _ labels: [String], _ values: [[String]: Histogram]
    ) -> MetricFamily {
        MetricFamily(.histogram, name, help, labels, values.mapValues { .histogram($0) })
    }
}

/// How often a value was at most how large.
package struct Histogram: Sendable, Hashable {
    /// Seconds: from a small file of a near server to a night.
    package static let bounds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400]

    /// Of each bound, those that are at most that, and above the one before; the last are above all.
    package private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
    package private(set) var sum = 0.0

    package var count: Int { counts.reduce(0, +) }

    package init() {}

    /// - Parameter seconds: One that isn't a number counts as none.
    package mutating func observe(_ seconds: Double) {
        let value = seconds.isFinite ? max(0, seconds) : 0
        counts[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += 1
        sum += value
    }
}
