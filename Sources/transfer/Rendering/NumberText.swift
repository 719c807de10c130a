import TransferCore

/// Numbers in the one form that every report uses, whatever the locale: logs are compared and searched.
enum NumberText {
    /// `200,000`.
    static func grouped(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var result = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return result
    }

    /// `1 job`, `200,000 jobs`.
    ///
    /// - Parameter plural: Where it isn't the noun and an s.
    static func count(_ value: Int, _ noun: String, plural: String? = nil) -> String {
        "\(grouped(value)) \(value == 1 ? noun : plural ?? noun + "s")"
    }

    /// Whole percents, rounded down: 100 % means that nothing is left.
    static func percent(_ part: Int64, of whole: Int64) -> Int {
        guard whole > 0 else { return 0 }
        if part >= whole { return 100 }
        return min(99, Int(Double(max(0, part)) / Double(whole) * 100))
    }

    static func rate(_ bytesPerSecond: Int64) -> String { ByteCount.format(max(0, bytesPerSecond)) + "/s" }

    /// `42 s`, `9m`, `2h 05m`: as exact as an estimate is.
    static func estimate(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60)m"
        default: return DurationText.words(duration)
        }
    }

    /// `0:42`; a part of a second counts as a whole one, so that a countdown doesn't show 0:00 while it runs.
    static func countdown(milliseconds: Int64) -> String {
        DurationText.clock(.seconds((max(0, milliseconds) + 999) / 1000))
    }
}
