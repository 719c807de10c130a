public import TransferCore

/// A sink that keeps the beginning of an answer in memory and drops the rest.
public final class AnswerSink: BodySink {
    /// The kept bytes.
    public private(set) var bytes: [UInt8] = []
    private let limit: Int
    private var count: Int64 = 0

    /// Creates a sink.
    ///
    /// - Parameter limit: The number of bytes to keep.
    public init(limit: Int) { self.limit = limit }

    /// The number of bytes that came.
    public var position: Int64 { count }

    /// Discards the earlier bytes for the body of a new answer.
    public func begin(_ start: BodyStart) throws(TransferError) {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    /// Keeps bytes up to the limit, and counts all of them.
    public func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {
        count += Int64(new.count)
        bytes.append(contentsOf: new.prefix(limit - bytes.count))
    }
}
