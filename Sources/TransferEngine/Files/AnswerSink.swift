public import TransferCore

/// Keeps the beginning of an answer in memory and drops the rest.
public final class AnswerSink: BodySink {
    public private(set) var bytes: [UInt8] = []
    private let limit: Int
    private var count: Int64 = 0

    /// - Parameter limit: Bytes to keep.
    public init(limit: Int) { self.limit = limit }

    public var position: Int64 { count }

    public func begin(_ start: BodyStart) throws(TransferError) {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    public func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {
        count += Int64(new.count)
        bytes.append(contentsOf: new.prefix(limit - bytes.count))
    }
}
