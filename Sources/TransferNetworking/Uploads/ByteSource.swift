import TransferCore

/// Bytes in order, from one place. One thread at a time.
protocol ByteSource: Sendable {
    /// Whether a read may wait for bytes that aren't there yet, as a pipe's does.
    var mayWait: Bool { get }
    /// - Parameter buffer: Not empty.
    /// - Returns: The bytes read; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int
    func close()
}

/// Why the bytes of a body could not be had: for the engine, and for those who encode a form themselves.
struct BodyReadFailure: Error {
    let transferError: TransferError
    /// What `AFError` carries.
    let underlying: any Error

    init(_ transferError: TransferError, underlying: (any Error)? = nil) {
        self.transferError = transferError
        self.underlying = underlying ?? transferError
    }
}
