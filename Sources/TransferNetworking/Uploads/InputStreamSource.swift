import Foundation
import TransferCore

/// A source that reads an `InputStream`.
///
/// `@unchecked`: the caller of an upload gives the stream up, and the readers of the source admit one thread at a time.
final class InputStreamSource: ByteSource, @unchecked Sendable {
    let mayWait = true
    private let stream: InputStream
    private let length: UInt64?
    private let mayHaveMore: Bool
    private var count: UInt64 = 0

    /// Opens the stream unless it is open.
    ///
    /// - Parameters:
    ///   - length: The number of bytes that the stream must contain, if known.
    ///   - mayHaveMore: Whether bytes beyond the length are left unread. Otherwise they are an error.
    init(_ stream: InputStream, length: UInt64?, mayHaveMore: Bool = false) throws(BodyReadFailure) {
        self.stream = stream
        self.length = length
        self.mayHaveMore = mayHaveMore
        if stream.streamStatus == .notOpen { stream.open() }
        switch stream.streamStatus {
        case .error: throw failure("open")
        case .closed: throw BodyReadFailure(.bodyStreamConsumed)
        default: break
        }
        // A subclass that does not keep its status up to date may still work; its reads decide.
        if length == 0 { try checkEnd() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int {
        let wanted = length.map { Int(min(UInt64(buffer.count), $0 - count)) } ?? buffer.count
        guard wanted > 0 else { return 0 }
        let read = try readSome(into: buffer, wanted)
        count += UInt64(read)
        if let length, read == 0 || count == length { try read == 0 ? failShort(length) : checkEnd() }
        return read
    }

    func close() { stream.close() }

    private func readSome(into buffer: UnsafeMutableRawBufferPointer, _ wanted: Int) throws(BodyReadFailure) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        let read = stream.read(start.assumingMemoryBound(to: UInt8.self), maxLength: wanted)
        guard read >= 0, read <= wanted else { throw failure("read") }
        return read
    }

    /// Checks that the stream has ended, as bytes beyond the declared length would silently be lost.
    private func checkEnd() throws(BodyReadFailure) {
        guard !mayHaveMore, let length, stream.hasBytesAvailable, answersAtOnce else { return }
        let more = try withTemporaryByte { byte throws(BodyReadFailure) in try readSome(into: byte, 1) }
        if more > 0 {
            throw BodyReadFailure(
                TransferError(
                    .sourceChanged,
                    "the body stream has more than the \(CountText.bytes(length)) "
                        + "that were promised"),
                underlying: AFError.UnexpectedInputStreamLength(bytesExpected: length, bytesRead: length + 1))
        }
    }

    /// Whether `hasBytesAvailable` can be trusted. For an idle pipe, Foundation's stream returns `true` and a read
    /// blocks. That stream has neither an offset, like one of a file, nor a buffer, like one of data. Subclasses are
    /// trusted.
    private var answersAtOnce: Bool {
        guard type(of: stream) == InputStream.self, stream.property(forKey: .fileCurrentOffsetKey) == nil else {
            return true
        }
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        return withUnsafeMutablePointer(to: &start) { stream.getBuffer($0, length: &count) }
    }

    private func failShort(_ length: UInt64) throws(BodyReadFailure) {
        throw BodyReadFailure(
            TransferError(.sourceChanged, "the body stream ended after \(count) of \(CountText.bytes(length))"),
            underlying: AFError.UnexpectedInputStreamLength(bytesExpected: length, bytesRead: count))
    }

    /// Makes the failure. On Linux `streamError` traps when there is no error. Foundation's own stream has an error if
    /// its status is `error`. A subclass may have overridden only one of them.
    private func failure(_ action: String) -> BodyReadFailure {
        guard type(of: stream) == InputStream.self, stream.streamStatus == .error, let error = stream.streamError
        else { return BodyReadFailure(TransferError(.bodyStreamFailed, "cannot \(action) the body stream")) }
        let cause = error as NSError
        let isSystem = cause.domain == NSPOSIXErrorDomain
        return BodyReadFailure(
            TransferError(
                .bodyStreamFailed, "cannot \(action) the body stream: \(cause.localizedDescription)",
                cause: isSystem ? .os(errno: Int32(truncatingIfNeeded: cause.code)) : nil),
            underlying: error)
    }
}

private func withTemporaryByte(
    _ body: (UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int
) throws(BodyReadFailure) -> Int {
    let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { byte.deallocate() }
    return try body(byte)
}
