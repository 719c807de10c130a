/// A buffer for output, so that a small response is one packet. It is used only by the connection's thread.
final class ConnectionOutput {
    private let socket: Socket
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    private var filled = 0

    init(_ socket: Socket) {
        self.socket = socket
    }

    deinit {
        buffer.deallocate()
    }

    func write(_ text: String) throws {
        try write(Array(text.utf8)[...])
    }

    func write(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let size = try fill(upTo: Int64(rest.count)) { target in target.copyBytes(from: rest.prefix(target.count)) }
            rest = rest.dropFirst(size)
        }
    }

    /// Calls `produce` to fill at most `limit` bytes of the buffer.
    ///
    /// - Returns: The number of bytes that `produce` was given.
    func fill(upTo limit: Int64, _ produce: (UnsafeMutableRawBufferPointer) -> Void) throws -> Int {
        if filled == buffer.count { try flush() }
        let size = Int(min(limit, Int64(buffer.count - filled)))
        produce(UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + size]))
        filled += size
        return size
    }

    func flush() throws {
        let ready = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
        filled = 0
        try socket.send(ready)
    }
}
