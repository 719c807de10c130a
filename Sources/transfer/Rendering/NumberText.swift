import TransferCore

/// Numbers in the same form in every report, regardless of the locale: logs are compared and searched.
enum NumberText {
    /// Returns a text such as `200,000`.
    static func grouped(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var result = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return result
    }

    /// Returns a text such as `1 job` or `200,000 jobs`.
    ///
    /// - Parameter plural: The plural of the noun; by default with an s.
    static func count(_ value: Int, _ noun: String, plural: String? = nil) -> String {
        "\(grouped(value)) \(value == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns whole percents, rounded down: 100 % means that nothing is left.
    static func percent(_ part: Int64, of whole: Int64) -> Int {
        guard whole > 0 else { return 0 }
        if part >= whole { return 100 }
        return min(99, Int(Double(max(0, part)) / Double(whole) * 100))
    }

    static func rate(_ bytesPerSecond: Int64) -> String { ByteCount.format(max(0, bytesPerSecond)) + "/s" }

    /// Returns a text such as `42 s`, `9m` or `2h 05m`, with the precision of an estimate.
    static func estimate(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60)m"
        default: return DurationText.words(duration)
        }
    }

    /// Returns a text such as `0:42`. A part of a second counts as a whole one, so that a running countdown never shows
    /// 0:00.
    static func countdown(milliseconds: Int64) -> String {
        DurationText.clock(.seconds((max(0, milliseconds) + 999) / 1000))
    }
}
