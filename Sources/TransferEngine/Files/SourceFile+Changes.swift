import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

extension SourceFile {
    /// The numbers that it had while its bytes were what was, or will be, sent.
    public var stamp: FileStamp { lastStamp.withLock { $0 } }

    /// Whether its length and the time of its last change are what they were.
    public var isUnchanged: Bool { stamp.isSameVersion(as: currentStamp()) }

    /// How it differs from what it was: with other times its bytes may be others. Doesn't wait for a disk.
    public func look() -> FileStamp.Likeness { currentStamp().map { stamp.likeness(to: $0) } ?? .other }

    /// Whether its times have been the same since it was opened, as far as it was looked at.
    public var isAsOpened: Bool { stamp == opened }

    /// Whether the bytes that were read to be sent are those that the file has now. Then its times are the new ones from
    /// now on (``stamp``). Blocks: for workers.
    ///
    /// - Parameter wholly: All of the file has to have been read.
    public func hasWhatWasSent(wholly: Bool = false) -> Bool {
        // Parts that are under way at once find the change together: one look is for all of them.
        comparison.withLock { _ in
            if look() == .same { return !wholly || sent.isWhole(size) || content != nil }
            return compare() && (!wholly || sent.isWhole(size) || content != nil)
        }
    }

    private func compare() -> Bool { isProven { isAsSent() } }

    /// Whether its bytes are right, as reading them tells, with nothing changed meanwhile. Then its times are those of that
    /// moment from now on (``stamp``): some file systems of FUSE give a file another time when it's read (rclone).
    /// Blocks: for workers.
    ///
    /// - Parameter isRight: Reads the file.
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

    /// While it's being written to it can't be said.
    private static let looksAtMost = 3

    /// Some of it was sent by an earlier attempt, so that what is sent now isn't all that the server has.
    ///
    /// - Parameter mayHaveChanged: Nobody knows whether the file has the bytes that were sent then.
    public func markSentBefore(mayHaveChanged: Bool = false) { sent.markPartial(isUnclear: mayHaveChanged) }

    /// The fingerprint of all that was sent; tells it from other bytes later (``fingerprint(isStopped:)``). `nil` where
    /// it was sent in parts, or by several attempts, and wasn't read for that (``noteFingerprint(isStopped:)``).
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

    /// Reads a file that was sent in parts once more, so that it can be told from other bytes later. To be called while
    /// nothing of it has changed since it was sent. Blocks: for workers.
    public func noteFingerprint(isStopped: () -> Bool = { false }) {
        guard sentFingerprint == nil, !sent.isUnclear, look() == .same, let whole = fingerprint(isStopped: isStopped),
            look() == .same
        else { return }
        sent.note(whole: whole)
    }

    /// The fingerprint of the bytes that the file has now. Blocks: for workers.
    ///
    /// - Returns: `nil` where it can't be read as it was, or isn't to be read any more.
    public func fingerprint(isStopped: () -> Bool = { false }) -> UInt64? {
        var fingerprint = ByteFingerprint()
        let isRead = isFound(0..<size) { bytes, _ in
            fingerprint.update(bytes)
            return !isStopped()
        }
        return isRead ? fingerprint.value : nil
    }

    /// - Returns: `nil` when the descriptor can't be asked.
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

    /// - Parameter isRight: Given what the file has, and where.
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
