import Glibc

/// The reading of the kernel's event queue.
enum InotifyQueue {
    /// The size of the buffer, with room for at least a few hundred events: with the longest name, one takes 272 bytes.
    private static let size = 1 << 16

    /// Reads the queued events.
    ///
    /// - Returns: An empty list if there are none.
    static func read(_ descriptor: Int32) -> [InotifyEvent] {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            return count > 0 ? InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
        }
    }
}
