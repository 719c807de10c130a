import TransferCore

/// A rate over the last seconds, of a count that is looked at now and then.
///
/// Pure. The window is short enough that what stands still shows 0 within seconds, and long enough that a link of one packet
/// a second shows its rate.
struct RateWindow {
    static let length = Duration.seconds(5)

    private var samples: [(time: MonotonicTime, count: Int64)] = []

    /// Notes the count. A count that falls begins anew: nothing moved backwards.
    mutating func note(_ count: Int64, at now: MonotonicTime) {
        if let last = samples.last, count < last.count || now < last.time { samples.removeAll() }
        // Looks in quick succession take the place of one another, so that there are few.
        if samples.count > 1, now - samples[samples.count - 2].time < Self.length / 20 { samples.removeLast() }
        samples.append((now, count))
        // One sample from before the window stays, so that all of the window is measured.
        while samples.count > 2, now - samples[1].time >= Self.length { samples.removeFirst() }
    }

    /// Counts a second; 0 before the second look.
    var perSecond: Double {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        return Double(last.count - first.count) / (last.time - first.time).inSeconds
    }

    var rate: Int64 { Int64(min(9e18, max(0, perSecond))) }
}
