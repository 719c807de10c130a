import HeapModule

/// The lanes that may start a job, in order: by the priority of their next job, and among equals the lane that was
/// served least recently.
///
/// A lane's entry is replaced by a later one instead of being removed, so that a change costs O(log n).
package struct StartOrder: Sendable {
    private struct Entry: Sendable, Comparable {
        let priority: Int
        let lastServed: Int
        let place: Int
        let stamp: Int

        static func < (one: Entry, other: Entry) -> Bool {
            (one.priority, -one.lastServed, -one.place) < (other.priority, -other.lastServed, -other.place)
        }
    }

    private var heap = Heap<Entry>()
    /// The valid entry of each place; 0 if there is none.
    private var stamps: [Int] = []
    private var lastStamp = 0
    private var valid = 0

    /// Notes that the lane at this place may start a job of this priority.
    package mutating func put(_ place: Int, priority: Int, lastServed: Int) {
        take(place)
        if stamps.count <= place { stamps += repeatElement(0, count: place + 1 - stamps.count) }
        lastStamp += 1
        stamps[place] = lastStamp
        valid += 1
        heap.insert(Entry(priority: priority, lastServed: lastServed, place: place, stamp: lastStamp))
        if heap.count > 2 * valid + 64 { heap = Heap(heap.unordered.filter { isValid($0) }) }
    }

    /// Notes that the lane at this place starts no job.
    package mutating func take(_ place: Int) {
        guard place < stamps.count, stamps[place] != 0 else { return }
        stamps[place] = 0
        valid -= 1
    }

    /// Takes out the lane whose turn it is, and returns its place.
    package mutating func next() -> Int? {
        while let entry = heap.popMax() {
            guard isValid(entry) else { continue }
            take(entry.place)
            return entry.place
        }
        return nil
    }

    private func isValid(_ entry: Entry) -> Bool { stamps[entry.place] == entry.stamp }
}
