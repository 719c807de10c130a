import TransferQueue

/// A number of transfers, or `auto`.
struct PerHostArgument: OptionValue {
    let written: String
    let value: PerHost

    init?(argument: String) {
        guard let value = PerHost(text: argument) else { return nil }
        (written, self.value) = (argument, value)
    }

    static let form =
        "a whole number from \(FieldRanges.concurrencies.lowerBound) to \(FieldRanges.concurrencies.upperBound), or auto"
}
