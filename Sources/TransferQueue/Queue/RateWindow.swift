import TransferCore

/// A rate over the last seconds, of a count that is sampled at intervals.
///
/// Pure. The window is short enough that a stopped transfer shows 0 within seconds. It is long enough to show the rate
/// of a link with one packet a second.
struct RateWindow {
    static let length = Duration.seconds(5)

    private var samples: [(time: MonotonicTime, count: Int64)] = []

    /// Notes the count. A falling count resets the window, because nothing moves backwards.
    mutating func note(_ count: Int64, at now: MonotonicTime) {
        if let last = samples.last, count < last.count || now < last.time { samples.removeAll() }
        // Samples in quick succession replace one another, to keep them few.
        if samples.count > 1, now - samples[samples.count - 2].time < Self.length / 20 { samples.removeLast() }
        samples.append((now, count))
        // One sample from before the window stays, so that the whole window is measured.
        while samples.count > 2, now - samples[1].time >= Self.length { samples.removeFirst() }
    }

    /// The count per second; 0 before the second sample.
    var perSecond: Double {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        return Double(last.count - first.count) / (last.time - first.time).inSeconds
    }

    var rate: Int64 { Int64(min(9e18, max(0, perSecond))) }
}
