import CTransferLinux
import Glibc
package import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// The plan to repair a damaged file by fetching its wrong bytes.
package struct RepairPlan: Sendable, Hashable {
    package let path: String
    /// The size of the whole file.
    package let total: Int64
    package let good: ByteRanges
    /// The sources, as the job names them.
    package let urls: [String]
    package let validator: Validator?
    package let digest: Checksum?

    /// The most ranges that a record of a partial file can hold; good bytes beyond them are fetched again.
    private static let mostRanges = 24

    /// Makes the plan of a repair.
    ///
    /// - Returns: `nil` for a file that is not damaged.
    package init?(_ check: FileCheck) {
        var good = ByteRanges()
        switch check.verdict {
        case .good, .unknown: return nil
        case .missing: break
        // Ranges of a decoded file cannot be requested.
        case .bad where check.download.spec.isCompressed: break
        case .bad(_, let ranges):
            var start: Int64 = 0
            for range in ranges {
                if good.ranges.count < Self.mostRanges {
                    good.insert(start..<min(check.size, max(start, range.lowerBound)))
                }
                start = range.upperBound
            }
            if start < check.size, good.ranges.count < Self.mostRanges { good.insert(start..<check.size) }
        }
        let download = check.download
        path = download.path
        total = check.size
        self.good = good
        urls = download.spec.urls
        validator = download.validator.flatMap { text in
            text.hasSuffix("\"") ? Validator(etag: text) : Validator(lastModified: text)
        }
        digest = download.spec.checksum ?? download.digest
    }

    /// Makes the partial file: a copy, sharing the file's blocks if the file system can, with a record of the good
    /// bytes. The file itself is not touched. Blocks.
    ///
    /// - Throws: `partNotOurs`, `fileLocked`, or the system's error; only the copy is lost then.
    package func prepare() throws(TransferError) {
        guard !good.ranges.isEmpty, let url = urls.first else { return }
        let source = transfer_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard source >= 0 else { throw .file("read", path, errno) }
        defer { close(source) }
        let part = try PartFile.open(PartName.path(of: path))
        defer { part.unlock() }
        guard ftruncate(part.descriptor, 0) == 0 else { throw .file("truncate", part.path, errno) }
        if transfer_clone(part.descriptor, source) != 0 { try copy(from: source, to: part) }
        let end = good.ranges.last?.upperBound ?? 0
        guard ftruncate(part.descriptor, off_t(end)) == 0 else { throw .file("truncate", part.path, errno) }
        try part.sync()
        var record = ResumeData(
            url: Redaction.url(url), validator: validator, total: total, written: good, synced: good,
            bootID: BootID.current, mount: part.mount, partialFile: part.path)
        record.isSequential = false
        part.record(record)
    }

    /// Copies only the good bytes.
    private func copy(from source: Int32, to part: PartFile) throws(TransferError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        for range in good.ranges {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
                let count = pread(source, buffer.baseAddress, wanted, off_t(offset))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw .file("read", path, errno) }
                var done = 0
                while done < count {
                    let written = pwrite(
                        part.descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done)
                    )
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { throw .file("write", part.path, errno) }
                    done += written
                }
                offset += Int64(count)
            }
        }
    }
}
