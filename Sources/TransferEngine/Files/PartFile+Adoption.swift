import CTransferLinux
import Glibc
public import TransferCore

// The adoption of partial files of other tools.
extension PartFile {
    /// Copies another tool's partial file into this file, whose own bytes are discarded, and records their source.
    ///
    /// The other file stays unchanged. This file must be opened again afterwards.
    ///
    /// - Parameters:
    ///   - most: The most bytes to take.
    ///   - record: A closure that makes the record of so many bytes.
    /// - Returns: Whether the other file was usable and could be recorded. It must be a plain file with bytes, and not
    ///   one of this program.
    /// - Throws: The error of the disk during the copy.
    public func adopt(
        _ other: String, atMost most: Int64 = .max, as record: (Int64) -> ResumeData
    ) throws(TransferError) -> Bool {
        let source = transfer_open(other, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard source >= 0 else { return false }
        defer { close(source) }
        var facts = stat()
        guard fstat(source, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0,
            PartRecord.whatItBears(source) == .nothing
        else { return false }
        let wanted = min(Int64(facts.st_size), most)
        guard wanted > 0 else { return false }
        try ensureNamed()
        // Without a record the source of the bytes would be unknown later.
        guard holdsRecords else { return false }
        if initialSize > 0 { try truncate() }
        try checkSpace(wanted)
        let count = try copy(source, wanted)
        var adopted = record(count)
        adopted.mount = mount
        guard count > 0, self.record(secured(adopted)) else {
            remove()
            return false
        }
        unlock()
        return true
    }

    /// Copies the bytes.
    ///
    /// - Returns: The number of copied bytes, at most the wanted number.
    private func copy(_ source: Int32, _ wanted: Int64) throws(TransferError) -> Int64 {
        var done: Int64 = 0
        while done < wanted {
            let count = transfer_copy_range(source, descriptor, UInt64(wanted - done))
            if count == 0 { return done }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // The call does not work between these file systems, or in this kernel.
                guard [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { throw .file("write", path, errno) }
                return try copyByHand(source, from: done, to: wanted)
            }
            done += count
        }
        return done
    }

    private func copyByHand(_ source: Int32, from start: Int64, to end: Int64) throws(TransferError) -> Int64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var done = start
        while done < end {
            let count = pread(source, buffer.baseAddress, min(buffer.count, Int(end - done)), off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .file("read", path, errno) }
            if count == 0 { break }
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            while !rest.isEmpty {
                let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw .file("write", path, errno) }
                done += Int64(written)
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
        return done
    }
}
