import TransferCore

/// A duration above zero.
struct TimeSpan: OptionValue {
    let duration: Duration
    let written: String

    init?(argument: String) {
        guard let duration = DurationText.parse(argument), duration > .zero else { return nil }
        (self.duration, written) = (duration, argument)
    }

    static let form = "a time above 0, at most 100 years, " + Delay.examples

    var json: JSONText { .string(written) }
}

/// A duration that may be zero.
struct Delay: OptionValue {
    let duration: Duration
    let written: String

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        (self.duration, written) = (duration, argument)
    }

    static let form = "a time from 0 on, at most 100 years, " + examples

    fileprivate static let examples = "such as 500ms, 30s, 5m, 1h30m or 7d (a number alone is seconds)"

    var json: JSONText { .string(written) }
}
