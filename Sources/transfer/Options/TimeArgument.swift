import ArgumentParser
import TransferCore

/// A duration as it was typed.
struct TimeArgument: ExpressibleByArgument {
    let written: String
    init?(argument: String) {
        guard DurationText.parse(argument) != nil else { return nil }
        written = argument
    }

    var json: JSONText { .string(written) }
}
