import TransferCore

/// The time that the rest of a batch takes, by the common rate of all its transfers.
///
/// Pure. A size is known only once a transfer has begun, so a waiting job is expected to have the mean size. The batch
/// takes at least as long as its longest transfer at that transfer's own rate, and at least a second while work is left.
struct BatchOutlook {
    /// A transfer under way.
    struct Transfer {
        /// The size of the file in bytes; `nil` if it is unknown.
        var total: Int64?
        /// The number of bytes of the file that are there.
        var completed: Int64
        /// The rate of this transfer alone, in bytes per second; 0 if it is unknown.
        var rate: Int64 = 0
    }

    /// The bytes per second of all transfers together.
    var rate = 0.0
    /// The number of jobs that end per second.
    var jobRate = 0.0
    /// The number of jobs of the run that have ended, without those that were found complete without a request.
    var ended = 0
    /// The bytes that the ended jobs moved.
    var endedBytes: Int64 = 0
    var underWay: [Transfer] = []
    /// The number of jobs that have not begun.
    var waiting = 0

    /// The estimated remaining time; `nil` if nothing moves or no sizes are known.
    var eta: Duration? {
        guard !underWay.isEmpty || waiting > 0 else { return nil }
        if rate > 0, let bytes = bytesLeft, bytes > 0 { return Self.duration(max(bytes / rate, longest, 1)) }
        // Jobs with empty or unchanged files end without moving bytes.
        guard jobRate > 0 else { return nil }
        return Self.duration(max(Double(underWay.count + waiting) / jobRate, longest, 1))
    }

    /// The time of the longest transfer under way in seconds, at its own rate.
    private var longest: Double {
        underWay.reduce(0) { longest, transfer in
            guard transfer.rate > 0, let total = transfer.total else { return longest }
            return max(longest, Double(total - transfer.completed) / Double(transfer.rate))
        }
    }

    /// The expected remaining bytes of all jobs; `nil` if sizes are unknown.
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
