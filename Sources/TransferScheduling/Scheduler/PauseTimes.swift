import HeapModule
package import TransferCore

/// The times at which pauses of origins with waiting jobs end.
package struct PauseTimes: Sendable {
    private struct Entry: Sendable, Comparable {
        let end: MonotonicTime
        let origin: String

        static func < (one: Entry, other: Entry) -> Bool { one.end < other.end }
    }

    private var heap = Heap<Entry>()
    private var ends: [String: MonotonicTime] = [:]

    /// Notes that jobs to the origin wait until this time.
    package mutating func note(_ origin: String, until end: MonotonicTime) {
        guard ends[origin] != end else { return }
        ends[origin] = end
        heap.insert(Entry(end: end, origin: origin))
    }

    /// Returns an origin whose pause is over; each is returned once.
    package mutating func nextDue(now: MonotonicTime) -> String? {
        while let first = heap.min, first.end <= now {
            heap.removeMin()
            if forget(first) { return first.origin }
        }
        return nil
    }

    /// Returns the next end of a pause that still keeps jobs waiting.
    package mutating func next(where holds: (String, MonotonicTime) -> Bool) -> MonotonicTime? {
        while let first = heap.min {
            if ends[first.origin] == first.end, holds(first.origin, first.end) { return first.end }
            heap.removeMin()
            _ = forget(first)
        }
        return nil
    }

    private mutating func forget(_ entry: Entry) -> Bool {
        guard ends[entry.origin] == entry.end else { return false }
        ends[entry.origin] = nil
        return true
    }
}
