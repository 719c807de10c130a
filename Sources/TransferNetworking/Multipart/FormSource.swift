import Foundation

/// The bytes of an encoded form, one segment after the other.
///
/// `@unchecked`: the readers of the source admit one thread at a time.
final class FormSource: ByteSource, @unchecked Sendable {
    let mayWait = true
    private var segments: ArraySlice<FormSegment>
    private var current: (any ByteSource)?

    init(_ segments: [FormSegment]) { self.segments = segments[...] }

    /// Fills the buffer to the extent that is possible without waiting. Many small parts thus need no small writes.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int {
        var filled = 0
        while filled < buffer.count {
            if current == nil { current = try segments.popFirst()?.open() }
            guard let source = current else { break }
            if source.mayWait, filled > 0 { break }
            let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 {
                close()
                continue
            }
            filled += count
            if source.mayWait { break }
        }
        return filled
    }

    func close() {
        current?.close()
        current = nil
    }
}

/// Bytes in memory. `@unchecked`: the readers of the source admit one thread at a time.
final class DataSource: ByteSource, @unchecked Sendable {
    let mayWait = false
    private var rest: Data

    init(_ data: Data) { rest = data }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int {
        let count = rest.copyBytes(to: buffer)
        rest = rest.dropFirst(count)
        return count
    }

    func close() {}
}
