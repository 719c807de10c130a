import Synchronization

/// The bytes of a file that were read to be sent, so that they can be compared with what the file has later: a change
/// of its times may be a change of its bytes, or touch(1), chmod(1), another name.
final class SentBytes: Sendable {
    /// Bytes that were read one after the other.
    struct Run {
        let start: Int64
        var end: Int64
        var fingerprint = ByteFingerprint()
    }

    private struct State {
        var runs: [Run] = []
        /// Somebody else has sent some of it before: an earlier attempt, of which nothing is known here.
        var isPartial = false
        /// All of it, read for that afterwards.
        var whole: UInt64?
        /// Nobody knows whether what was sent before is what the file has now.
        var isUnclear = false
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - offset: Where they stand in the file.
    ///   - part: Where the part begins that they belong to: read again from there, it's sent again.
    func note(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of part: Int64) {
        guard !bytes.isEmpty else { return }
        state.withLock { state in
            // Parts that are under way at once are among the last.
            let index = state.runs.lastIndex { $0.start == part }
            if let index, offset != part {
                // Read again from somewhere in its middle: what went before isn't known any more.
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

    /// Whether all bytes of a file of that size were read.
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

    /// Notes the fingerprint of the whole file, while it was known to have what was sent.
    func note(whole fingerprint: UInt64) { state.withLock { $0.whole = $0.isUnclear ? nil : fingerprint } }

    var isUnclear: Bool { state.withLock { $0.isUnclear } }

    var whole: UInt64? { state.withLock { $0.whole } }

    /// - Returns: `nil` where that isn't all that was sent.
    var runs: [Run]? { state.withLock { $0.isPartial ? nil : $0.runs } }
}
