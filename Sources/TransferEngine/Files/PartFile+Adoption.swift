import CTransferLinux
import Glibc
public import TransferCore

// Partial files of other tools.
extension PartFile {
    /// Copies what another tool has left into this file, whose own bytes are given up, and records what it is; the other file stays as
    /// it is. The file has to be opened anew afterwards.
    ///
    /// - Parameters:
    ///   - most: How many bytes are taken at most.
    ///   - record: Of so many bytes.
    /// - Returns: Whether there was anything to begin with, and it could be recorded: a plain file with bytes in it, that
    ///   isn't the work of this program.
    /// - Throws: What the disk says of the copy.
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
        // Without a record nobody knows later whose bytes they are.
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

    /// - Returns: How many bytes there were, at most as many as wanted.
    private func copy(_ source: Int32, _ wanted: Int64) throws(TransferError) -> Int64 {
        var done: Int64 = 0
        while done < wanted {
            let count = transfer_copy_range(source, descriptor, UInt64(wanted - done))
            if count == 0 { return done }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // Not between these file systems, or not in this kernel.
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
