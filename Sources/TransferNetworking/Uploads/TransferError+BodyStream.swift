import TransferCore

extension TransferError.Code {
    /// The code for a body whose stream was read before, without a new stream.
    static let bodyStreamConsumed = Self(rawValue: "bodyStreamConsumed")
    /// The code for a body whose stream could not be opened or read.
    static let bodyStreamFailed = Self(rawValue: "bodyStreamFailed")
}

extension TransferError {
    static let bodyStreamConsumed = TransferError(
        .bodyStreamConsumed, "the body stream was read already and cannot be sent again: give a fresh stream")
}
