/// Metrics in Prometheus' text format, version 0.0.4. It has no timestamps, and leaves out families without a series.
package enum PrometheusText {
    package static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.series.isEmpty {
            text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for series in family.series {
                switch series.value {
                case .number(let value):
                    text += "\(family.name)\(labels(family.labels, series.labels)) \(number(value))\n"
                case .histogram(let histogram): append(histogram, family, series.labels, &text)
                }
            }
        }
        return text
    }

    private static func append(
        _ histogram: Histogram, _ family: MetricFamily, _ values: [String], _ text: inout String
    ) {
        var count = 0
        for (bound, more) in zip(histogram.bounds.map(number) + ["+Inf"], histogram.counts) {
            count += more
            text += "\(family.name)_bucket\(labels(family.labels + ["le"], values + [bound])) \(count)\n"
        }
        text += "\(family.name)_sum\(labels(family.labels, values)) \(number(histogram.sum))\n"
        text += "\(family.name)_count\(labels(family.labels, values)) \(count)\n"
    }

    private static func labels(_ names: [String], _ values: [String]) -> String {
        // A label without a value is equal to no label.
        let pairs = zip(names, values).filter { !$0.1.isEmpty }
        guard !pairs.isEmpty else { return "" }
        return "{\(pairs.map { "\($0.0)=\"\(escaped($0.1, quotes: true))\"" }.joined(separator: ","))}"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }
}
