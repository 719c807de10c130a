import CTransferLinux
import Glibc
package import TransferCore
import TransferCrypto
package import TransferEngine

/// Functions that compute digests of local files. They block, so they belong on worker threads.
package enum FileDigest {
    package static func compute(_ path: String, _ algorithm: DigestAlgorithm) throws(TransferError) -> Checksum {
        // `O_NONBLOCK`: opening a FIFO must not wait for a writer.
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

    /// Computes the digest of a range of an open file. The range may end early, where the file does.
    ///
    /// - Parameter isStopped: A closure that is asked repeatedly, since a large file takes long.
    /// - Throws: `TransferError` where the file cannot be read, and where `isStopped` returns true.
    package static func compute(
        _ file: SourceFile, _ algorithm: DigestAlgorithm, _ range: Range<Int64>, isStopped: () -> Bool = { false }
    ) throws(TransferError) -> Checksum {
        do {
            let digest = try Digest(algorithm)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var offset = range.lowerBound
            while offset < range.upperBound {
                if isStopped() { throw TransferError(.cancelled, "no caller waits for the digest") }
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

    /// Returns whether one file is a prefix of the other; `false` also where either cannot be read.
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

    /// Returns whether two files hold the same bytes; `false` also where either cannot be read.
    package static func areEqual(_ first: String, _ second: String) -> Bool {
        var (one, two) = (stat(), stat())
        guard stat(first, &one) == 0, stat(second, &two) == 0, one.st_size == two.st_size,
            two.st_mode & S_IFMT == S_IFREG
        else { return false }
        guard let left = try? compute(first, .sha256), let right = try? compute(second, .sha256) else { return false }
        return left == right
    }
}

/// A file that is read sequentially from its start.
private struct PlainFile {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
    }

    func close() { Glibc.close(descriptor) }

    /// Fills a buffer from the file.
    ///
    /// - Returns: The number of bytes read, less than the buffer only at the end of the file; -1 on an error.
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
