import TransferCore

/// A source of bytes in order, for one thread at a time.
protocol ByteSource: Sendable {
    /// Whether a read may wait for bytes that do not exist yet, as in a pipe.
    var mayWait: Bool { get }
    /// Reads bytes.
    ///
    /// - Parameter buffer: The target, which must not be empty.
    /// - Returns: The number of bytes that were read; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int
    func close()
}

/// The reason why a body cannot be read, for the engine and for programs that encode a form themselves.
struct BodyReadFailure: Error {
    let transferError: TransferError
    /// The error that `AFError` contains.
    let underlying: any Error

    init(_ transferError: TransferError, underlying: (any Error)? = nil) {
        self.transferError = transferError
        self.underlying = underlying ?? transferError
    }
}
