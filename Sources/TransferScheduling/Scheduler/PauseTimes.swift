import HeapModule
package import TransferCore

/// The times at which pauses of origins that hold jobs back come to their end.
package struct PauseTimes: Sendable {
    private struct Entry: Sendable, Comparable {
        let end: MonotonicTime
        let origin: String

        static func < (one: Entry, other: Entry) -> Bool { one.end < other.end }
    }

    private var heap = Heap<Entry>()
    private var ends: [String: MonotonicTime] = [:]

    /// Jobs to the origin wait until then.
    package mutating func note(_ origin: String, until end: MonotonicTime) {
        guard ends[origin] != end else { return }
        ends[origin] = end
        heap.insert(Entry(end: end, origin: origin))
    }

    /// An origin whose pause is over; each is named once.
    package mutating func nextDue(now: MonotonicTime) -> String? {
        while let first = heap.min, first.end <= now {
            heap.removeMin()
            if forget(first) { return first.origin }
        }
        return nil
    }

    /// The next end of a pause that still holds jobs back.
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
