import CTransferLinux
import Glibc
package import TransferCore
import TransferCrypto
package import TransferEngine

/// Digests of files that are there. Blocks: for workers.
package enum FileDigest {
    package static func compute(_ path: String, _ algorithm: DigestAlgorithm) throws(TransferError) -> Checksum {
        // A FIFO isn't waited for.
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw .file("read", path, errno) }
        defer { close(descriptor) }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        do {
            let digest = try Digest(algorithm)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count == 0 { return try digest.finish() }
                guard count > 0 else {
                    if errno == EINTR { continue }
                    throw TransferError.file("read", path, errno)
                }
                digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        } catch {
            throw error as? TransferError ?? TransferError(.internalFault, "\(error)")
        }
    }

    /// Of a range of a file that is open; it may end early, where the file does.
    ///
    /// - Parameter isStopped: Asked on the way, as a large file takes long.
    /// - Throws: When it's to stop, too.
    package static func compute(
        _ file: SourceFile, _ algorithm: DigestAlgorithm, _ range: Range<Int64>, isStopped: () -> Bool = { false }
    ) throws(TransferError) -> Checksum {
        do {
            let digest = try Digest(algorithm)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var offset = range.lowerBound
            while offset < range.upperBound {
                if isStopped() { throw TransferError(.cancelled, "nobody waits for the digest any more") }
                let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
                let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
                guard count > 0 else { break }
                digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                offset += Int64(count)
            }
            return try digest.finish()
        } catch {
            throw error as? TransferError ?? TransferError(.internalFault, "\(error)")
        }
    }

    /// Whether the bytes of one file are the first ones of the other; `false` too when one of them can't be read.
    package static func isBeginning(_ beginning: String, of whole: String) -> Bool {
        guard let first = PlainFile(beginning) else { return false }
        defer { first.close() }
        guard let second = PlainFile(whole) else { return false }
        defer { second.close() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 << 20, alignment: 16)
        defer { buffer.deallocate() }
        let half = buffer.count / 2
        while true {
            let mine = first.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<half]))
            guard mine > 0 else { return mine == 0 }
            let others = second.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[half..<(half + mine)]))
            guard others == mine, let one = buffer.baseAddress, memcmp(one, one + half, mine) == 0 else { return false }
        }
    }

    /// Whether two files hold the same bytes; `false` too when one of them can't be read.
    package static func areEqual(_ first: String, _ second: String) -> Bool {
        var (one, two) = (stat(), stat())
        guard stat(first, &one) == 0, stat(second, &two) == 0, one.st_size == two.st_size,
            two.st_mode & S_IFMT == S_IFREG
        else { return false }
        guard let left = try? compute(first, .sha256), let right = try? compute(second, .sha256) else { return false }
        return left == right
    }
}

/// A file that is read from its start.
private struct PlainFile {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
    }

    func close() { Glibc.close(descriptor) }

    /// - Returns: How many bytes came, fewer only at the end of the file; -1 where it can't be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        while done < buffer.count, let start = buffer.baseAddress {
            let count = Glibc.read(descriptor, start + done, buffer.count - done)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return -1 }
            if count == 0 { break }
            done += count
        }
        return done
    }
}
