import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

extension SourceFile {
    /// The size and times of the file while it had the bytes that were, or will be, sent.
    public var stamp: FileStamp { lastStamp.withLock { $0 } }

    /// Whether length and modification time are unchanged.
    public var isUnchanged: Bool { stamp.isSameVersion(as: currentStamp()) }

    /// Compares the file's size and times with the earlier ones: with other times its bytes may differ. The call does
    /// not wait for a disk.
    public func look() -> FileStamp.Likeness { currentStamp().map { stamp.likeness(to: $0) } ?? .other }

    /// Whether every check has found the times of the opening.
    public var isAsOpened: Bool { stamp == opened }

    /// Returns whether the bytes that were read to be sent are those that the file has now. The call blocks: it is
    /// meant for workers.
    ///
    /// If so, the file's new times become its known ones (``stamp``).
    ///
    /// - Parameter wholly: Whether the whole file must have been read.
    public func hasWhatWasSent(wholly: Bool = false) -> Bool {
        // Concurrent parts find the change together: one comparison serves all of them.
        comparison.withLock { _ in
            if look() == .same { return !wholly || sent.isWhole(size) || content != nil }
            return compare() && (!wholly || sent.isWhole(size) || content != nil)
        }
    }

    private func compare() -> Bool { isProven { isAsSent() } }

    /// Returns whether the bytes are right and the file did not change while they were read. Blocks: for workers.
    ///
    /// The file's times are those of that moment from now on (``stamp``), because some FUSE file systems change a
    /// file's time when it is read (rclone).
    ///
    /// - Parameter isRight: A function that reads the file.
    public func isProven(_ isRight: () -> Bool) -> Bool {
        for _ in 0..<Self.looksAtMost {
            guard let before = currentStamp(), before.size == size, isRight(), let after = currentStamp() else {
                return false
            }
            guard before == after else { continue }
            lastStamp.withLock { $0 = after }
            return true
        }
        return false
    }

    /// The most attempts: a file that is being written to cannot be judged.
    private static let looksAtMost = 3

    /// Notes that an earlier attempt sent some bytes, so that the bytes sent now are not all that the server has.
    ///
    /// - Parameter mayHaveChanged: Whether the file may have changed since those bytes were sent.
    public func markSentBefore(mayHaveChanged: Bool = false) { sent.markPartial(isUnclear: mayHaveChanged) }

    /// The fingerprint of all sent bytes, for a later comparison (``fingerprint(isStopped:)``).
    ///
    /// The value is `nil` where the bytes were sent in parts or by several attempts, and were not read again
    /// (``noteFingerprint(isStopped:)``).
    public var sentFingerprint: UInt64? {
        if let whole = sent.whole { return whole }
        if let content {
            var fingerprint = ByteFingerprint()
            content.withUnsafeBytes { fingerprint.update($0) }
            return fingerprint.value
        }
        guard let runs = sent.runs, runs.count == 1, runs[0].start == 0, runs[0].end == size else { return nil }
        return runs[0].fingerprint.value
    }

    /// Reads a file that was sent in parts once more for its fingerprint, which detects later changes.
    ///
    /// The caller must know that the file is unchanged since it was sent. The call blocks: it is meant for workers.
    public func noteFingerprint(isStopped: () -> Bool = { false }) {
        guard sentFingerprint == nil, !sent.isUnclear, look() == .same, let whole = fingerprint(isStopped: isStopped),
            look() == .same
        else { return }
        sent.note(whole: whole)
    }

    /// Returns the fingerprint of the bytes that the file has now. The call blocks: it is meant for workers.
    ///
    /// - Returns: `nil` where its bytes cannot be read in the original length, or `isStopped` ended the reading.
    public func fingerprint(isStopped: () -> Bool = { false }) -> UInt64? {
        var fingerprint = ByteFingerprint()
        let isRead = isFound(0..<size) { bytes, _ in
            fingerprint.update(bytes)
            return !isStopped()
        }
        return isRead ? fingerprint.value : nil
    }

    /// Reads the current size and times.
    ///
    /// - Returns: `nil` when fstat(2) fails.
    public func currentStamp() -> FileStamp? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? FileStamp(status) : nil
    }

    private func isAsSent() -> Bool {
        if let content {
            return content.withUnsafeBytes { content in
                isFound(0..<size) { bytes, offset in
                    bytes.elementsEqual(content[Int(offset)..<Int(offset) + bytes.count])
                }
            }
        }
        guard let runs = sent.runs else { return false }
        return runs.allSatisfy { run in
            var fingerprint = ByteFingerprint()
            let isWhole = isFound(run.start..<run.end) { bytes, _ in
                fingerprint.update(bytes)
                return true
            }
            return isWhole && fingerprint.value == run.fingerprint.value
        }
    }

    /// Returns whether all bytes of a range are right.
    ///
    /// - Parameter isRight: A closure that judges bytes of the file at an offset.
    private func isFound(_ range: Range<Int64>, _ isRight: (UnsafeRawBufferPointer, Int64) -> Bool) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0, isRight(UnsafeRawBufferPointer(rebasing: buffer[..<count]), offset) else { return false }
            offset += Int64(count)
        }
        return true
    }
}
