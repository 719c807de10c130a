import Synchronization

/// Which bytes of a file were read to be sent, so that they can be compared with what the file has later: a change of its
/// times may be a change of its bytes, or touch(1), chmod(1), another name.
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
    }

    private let state = Mutex(State())

    /// - Parameter offset: Where they stand in the file. From the beginning of a run they take its place: they are sent
    ///   again.
    func note(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        guard !bytes.isEmpty else { return }
        state.withLock { state in
            // Parts that are under way at once are among the last.
            if let index = state.runs.lastIndex(where: { $0.end == offset }) {
                state.runs[index].fingerprint.update(bytes)
                state.runs[index].end += Int64(bytes.count)
                return
            }
            var run = Run(start: offset, end: offset + Int64(bytes.count))
            run.fingerprint.update(bytes)
            if let index = state.runs.lastIndex(where: { $0.start == offset }) {
                state.runs[index] = run
            } else {
                state.runs.append(run)
            }
        }
    }

    func markPartial() { state.withLock { $0.isPartial = true } }

    /// - Returns: `nil` where that isn't all that was sent.
    var runs: [Run]? { state.withLock { $0.isPartial ? nil : $0.runs } }
}
