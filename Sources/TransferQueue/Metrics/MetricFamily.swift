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

    package init(_ kind: Kind, _ name: String, _ help: String, _ labels: [String], _ values: [[String]: Value]) {
        (self.kind, self.name, self.help, self.labels) = (kind, name, help, labels)
        series = values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { Series(labels: $0.key, value: $0.value) }
    }
}

/// How often a value was at most how large.
package struct Histogram: Sendable, Hashable {
    /// In seconds, ascending.
    package let bounds: [Double]
    /// Of each bound, those that are at most that, and above the one before; the last are above all.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    package var count: Int { counts.reduce(0, +) }

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// - Parameter seconds: One that isn't a number counts as none.
    package mutating func observe(_ seconds: Double) {
        let value = seconds.isFinite ? max(0, seconds) : 0
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}
