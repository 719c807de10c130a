import Synchronization

/// The bytes of a file that were read to be sent, for a comparison with the file's later content.
///
/// A change of its times may be a change of its bytes, but also touch(1), chmod(1) or a second name.
final class SentBytes: Sendable {
    /// A run of bytes that were read one after the other.
    struct Run {
        let start: Int64
        var end: Int64
        var fingerprint = ByteFingerprint()
    }

    private struct State {
        var runs: [Run] = []
        /// Whether some of the bytes were sent by an earlier attempt, about which nothing is known here.
        var isPartial = false
        /// The fingerprint of the whole file, which was read for it afterwards.
        var whole: UInt64?
        /// Whether it is unknown if the bytes that were sent earlier are still in the file.
        var isUnclear = false
    }

    private let state = Mutex(State())

    /// Notes bytes that were read.
    ///
    /// - Parameters:
    ///   - offset: The offset of the bytes in the file.
    ///   - part: The offset of the part to which they belong. A second reading from there means that the part is sent
    ///     again.
    func note(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of part: Int64) {
        guard !bytes.isEmpty else { return }
        state.withLock { state in
            // Concurrent parts are among the last.
            let index = state.runs.lastIndex { $0.start == part }
            if let index, offset != part {
                // The part is read again from its middle: the earlier bytes are unknown now.
                guard state.runs[index].end == offset else {
                    state.isPartial = true
                    return
                }
                state.runs[index].fingerprint.update(bytes)
                state.runs[index].end += Int64(bytes.count)
                return
            }
            guard offset == part else {
                state.isPartial = true
                return
            }
            var run = Run(start: offset, end: offset + Int64(bytes.count))
            run.fingerprint.update(bytes)
            if let index { state.runs[index] = run } else { state.runs.append(run) }
        }
    }

    /// Returns whether all bytes of a file of that size were read.
    func isWhole(_ size: Int64) -> Bool {
        guard let runs else { return false }
        var end: Int64 = 0
        for run in runs.sorted(by: { $0.start < $1.start }) where run.start <= end { end = max(end, run.end) }
        return end == size
    }

    func markPartial(isUnclear: Bool = false) {
        state.withLock { state in
            state.isPartial = true
            state.isUnclear = state.isUnclear || isUnclear
        }
    }

    /// Notes the fingerprint of the whole file, while the file is known to have the bytes that were sent.
    func note(whole fingerprint: UInt64) { state.withLock { $0.whole = $0.isUnclear ? nil : fingerprint } }

    var isUnclear: Bool { state.withLock { $0.isUnclear } }

    var whole: UInt64? { state.withLock { $0.whole } }

    /// The runs of bytes that were read.
    ///
    /// - Returns: `nil` where other bytes were sent, too.
    var runs: [Run]? { state.withLock { $0.isPartial ? nil : $0.runs } }
}
