import TransferCore
import TransferEngine

/// A body that is read in small pieces.
struct ByteStream: BodyStream {
    let bytes: [UInt8]
    let length: Int64?

    init(_ bytes: [UInt8], length: Int64?) {
        self.bytes = bytes
        self.length = length
    }

    func open() throws(TransferError) -> any BodyReader { Reader(bytes) }

    final class Reader: BodyReader, @unchecked Sendable {  // Used by one thread at a time, as readers are.
        private var rest: ArraySlice<UInt8>
        init(_ bytes: [UInt8]) { rest = bytes[...] }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
            let count = min(buffer.count, rest.count, 10_000)
            buffer.copyBytes(from: rest.prefix(count))
            rest = rest.dropFirst(count)
            return count
        }

        func close() {}
    }
}
