import Glibc
import TransferCore
import TransferEngine

/// A source for a file of a declared length. A file that has another length, or is written to meanwhile, causes an
/// error rather than a wrong body.
///
/// `@unchecked`: the readers of the source admit one thread at a time.
final class FileSource: ByteSource, @unchecked Sendable {
    let mayWait = false
    private let file: SourceFile
    private let length: UInt64
    private var offset: UInt64 = 0

    init(_ path: String, length: UInt64) throws(BodyReadFailure) {
        do { file = try SourceFile(path) } catch { throw BodyReadFailure(error) }
        self.length = length
        guard UInt64(file.size) == length else { throw changed("it is \(CountText.bytes(file.size)) long") }
        if length == 0 { try checkEnd() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(BodyReadFailure) -> Int {
        let wanted = Int(min(UInt64(buffer.count), length - offset))
        guard wanted > 0 else { return 0 }
        let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
        guard count > 0 else { throw changed("it ends after \(offset)") }
        offset += UInt64(count)
        if offset == length { try checkEnd() }
        return count
    }

    /// Does nothing, as the last reference's end closes the descriptor.
    func close() {}

    private func checkEnd() throws(BodyReadFailure) {
        guard file.isUnchanged else { throw changed("it was written to while it was read") }
        // Files of /proc declare a size of 0 but have content.
        let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { byte.deallocate() }
        guard try read(into: byte, at: offset) == 0 else { throw changed("it has more") }
    }

    private func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(BodyReadFailure) -> Int {
        while true {
            let count = pread(file.descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw BodyReadFailure(.file("read", file.path, errno)) }
        }
    }

    private func changed(_ how: String) -> BodyReadFailure {
        BodyReadFailure(
            TransferError(
                .sourceChanged,
                "\(file.path) changed since it was added as "
                    + "\(CountText.bytes(length)): \(how)"))
    }
}
