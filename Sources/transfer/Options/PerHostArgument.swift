import ArgumentParser
import TransferQueue

/// A number of transfers, or `auto`.
struct PerHostArgument: ExpressibleByArgument {
    let written: String
    /// `nil` for what is no such number: the options' check says what is.
    let value: PerHost?

    init?(argument: String) {
        (written, value) = (argument, PerHost(text: argument))
    }
}
