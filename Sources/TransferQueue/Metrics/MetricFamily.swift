/// One metric: a name, and its values by their labels.
package struct MetricFamily: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case gauge, counter, histogram
    }

    package enum Value: Sendable, Hashable {
        case number(Double)
        case histogram(Histogram)
    }

    package struct Series: Sendable, Hashable {
        /// One value for each of the family's labels.
        package let labels: [String]
        package let value: Value
    }

    package let name: String
    package let help: String
    package let kind: Kind
    package let labels: [String]
    /// The series, sorted by their labels.
    package let series: [Series]

    package init(_ kind: Kind, _ name: String, _ help: String, _ labels: [String], _ values: [[String]: Value]) {
        (self.kind, self.name, self.help, self.labels) = (kind, name, help, labels)
        series = values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { Series(labels: $0.key, value: $0.value) }
    }
}

/// The counts of values between bounds.
package struct Histogram: Sendable, Hashable {
    /// The upper bounds in seconds, ascending.
    package let bounds: [Double]
    /// The number of values up to each bound and above the previous one. The last count is of values above all bounds.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    package var count: Int { counts.reduce(0, +) }

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Counts a value.
    ///
    /// - Parameter seconds: The value; one that is not finite counts as 0.
    package mutating func observe(_ seconds: Double) {
        let value = seconds.isFinite ? max(0, seconds) : 0
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}
