import TransferCore

/// The time that the rest of a batch takes, by what all of its transfers together move.
///
/// Pure. Sizes are known only once a transfer has begun: of jobs that wait, the mean of the others is expected.
struct BatchOutlook {
    /// A transfer under way.
    struct Transfer {
        /// Bytes of the file; `nil` where they are unknown.
        var total: Int64?
        /// Bytes of it that are there.
        var completed: Int64
    }

    /// Bytes a second, of all transfers together.
    var rate = 0.0
    /// Jobs a second that end.
    var jobRate = 0.0
    /// Jobs of the run that have ended, apart from those that turned out to be complete without a question.
    var ended = 0
    /// Bytes that those moved.
    var endedBytes: Int64 = 0
    var underWay: [Transfer] = []
    /// Jobs that have not begun.
    var waiting = 0

    /// `nil` where nothing moves, and where nothing is known of the sizes.
    var eta: Duration? {
        guard !underWay.isEmpty || waiting > 0 else { return nil }
        if rate > 0, let bytes = bytesLeft, bytes > 0 { return Self.duration(bytes / rate) }
        // Jobs with empty or unchanged files end without bytes.
        guard jobRate > 0 else { return nil }
        return Self.duration(Double(underWay.count + waiting) / jobRate)
    }

    /// Bytes that are left of all jobs, as far as that can be expected.
    private var bytesLeft: Double? {
        let known = underWay.compactMap(\.total)
        let count = ended + known.count
        let mean = count > 0 ? (Double(endedBytes) + known.reduce(0) { $0 + Double($1) }) / Double(count) : nil
        var left = 0.0
        for transfer in underWay {
            guard let total = transfer.total.map(Double.init) ?? mean else { return nil }
            left += max(0, total - Double(transfer.completed))
        }
        guard waiting > 0 else { return left }
        return mean.map { left + $0 * Double(waiting) }
    }

    private static func duration(_ seconds: Double) -> Duration? {
        seconds < 1e8 ? .milliseconds(Int64(seconds * 1000)) : nil
    }
}
