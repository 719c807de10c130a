import Glibc

/// Reads what the kernel has queued.
enum InotifyQueue {
    /// Room for at least a few hundred events: with the longest name one takes 272 bytes.
    private static let size = 1 << 16

    /// - Returns: Nothing when nothing is there.
    static func read(_ descriptor: Int32) -> [InotifyEvent] {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            return count > 0 ? InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
        }
    }
}
