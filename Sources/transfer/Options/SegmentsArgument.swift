import TransferQueue

/// A number of connections, or `auto`.
struct SegmentsArgument: OptionValue {
    /// The number; `nil` means as many as make the transfer faster.
    let count: Int?

    init?(argument: String) {
        guard argument != "auto" else {
            count = nil
            return
        }
        guard let count = Int(argument), FieldRanges.segments.contains(count) else { return nil }
        self.count = count
    }

    static let form =
        "a whole number from \(FieldRanges.segments.lowerBound) to \(FieldRanges.segments.upperBound), or auto"

    var json: JSONText { count.map { .number($0) } ?? .string("auto") }
    var written: String { count.map { "\($0)" } ?? "auto" }
}
