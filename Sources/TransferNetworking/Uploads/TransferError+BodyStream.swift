import TransferCore

extension TransferError.Code {
    /// The body of a request is a stream that was read already, and nobody gave a fresh one.
    static let bodyStreamConsumed = Self(rawValue: "bodyStreamConsumed")
    /// The body of a request is a stream that could not be opened or read.
    static let bodyStreamFailed = Self(rawValue: "bodyStreamFailed")
}

extension TransferError {
    static let bodyStreamConsumed = TransferError(
        .bodyStreamConsumed, "the body stream was read already and can't be sent again: give a fresh stream")
}
