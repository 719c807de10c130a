import TransferQueue

/// The rule by which waiting jobs get another order: the job with the higher priority starts first, and of two with the
/// same priority the one with the lower number.
struct TurnPlan: Sendable {
    struct Turn: Sendable, Hashable {
        let number: Int64
        var priority: Int

        init(number: Int64, priority: Int) {
            self.number = number
            self.priority = priority
        }

        init(_ entry: JobEntry) { self.init(number: entry.number, priority: entry.priority) }

        func precedes(_ other: Turn) -> Bool {
            priority > other.priority || priority == other.priority && number < other.number
        }

        /// The lowest priority with which this job precedes another one.
        func priority(before next: Turn) -> Int { next.priority + (number < next.number ? 0 : 1) }

        /// The highest priority with which this job follows another one.
        func priority(after before: Turn) -> Int { before.priority - (number > before.number ? 0 : 1) }
    }

    /// The jobs, in their order.
    private(set) var turns: [Turn]
    private var old: [Int64: Int]

    init(_ turns: [Turn]) {
        self.turns = turns
        old = Dictionary(turns.map { ($0.number, $0.priority) }) { first, _ in first }
    }

    /// The new priorities of the jobs that get another one, by the jobs' numbers.
    var changes: [Int64: Int] {
        Dictionary(turns.filter { old[$0.number] != $0.priority }.map { ($0.number, $0.priority) }) { first, _ in first
        }
    }

    /// Moves one job; the others keep their relative order.
    mutating func move(from place: Int, to new: Int) {
        guard place != new else { return }
        turns.insert(turns.remove(at: place), at: new)
        settle(moved: new)
    }

    /// Moves jobs by one place, forwards or backwards. None of them passes another of them, so that a block at the edge
    /// stays as it is.
    ///
    /// - Returns: The number of jobs that moved.
    mutating func step(_ numbers: Set<Int64>, forwards: Bool) -> Int {
        var count = 0
        let places = forwards ? Array(turns.indices) : turns.indices.reversed()
        for place in places where numbers.contains(turns[place].number) {
            let next = forwards ? place - 1 : place + 1
            guard turns.indices.contains(next), !numbers.contains(turns[next].number) else { continue }
            move(from: place, to: next)
            count += 1
        }
        return count
    }

    /// Puts jobs before all others, in their order.
    ///
    /// - Returns: The number of jobs that moved.
    mutating func putFirst(_ jobs: [Turn]) -> Int {
        let before = turns
        turns = known(jobs) + others(jobs)
        for place in jobs.indices.reversed() where place + 1 < turns.count {
            let next = turns[place + 1]
            if !turns[place].precedes(next) { turns[place].priority = turns[place].priority(before: next) }
        }
        return jobs.count - zip(before, jobs).count { $0.number == $1.number }
    }

    /// Puts jobs after all others, in their order.
    ///
    /// - Returns: The number of jobs that moved.
    mutating func putLast(_ jobs: [Turn]) -> Int {
        let before = turns
        turns = others(jobs) + known(jobs)
        for place in turns.indices.suffix(jobs.count) where place > 0 {
            let last = turns[place - 1]
            if !last.precedes(turns[place]) { turns[place].priority = turns[place].priority(after: last) }
        }
        return jobs.count - zip(before.reversed(), jobs.reversed()).count { $0.number == $1.number }
    }

    /// Notes the priorities of jobs that may be outside of the part of the order that was read.
    private mutating func known(_ jobs: [Turn]) -> [Turn] {
        for job in jobs { old[job.number] = job.priority }
        return jobs
    }

    private func others(_ jobs: [Turn]) -> [Turn] {
        let numbers = Set(jobs.map(\.number))
        return turns.filter { !numbers.contains($0.number) }
    }

    /// Changes the fewest priorities that put the jobs into the present order, in which one job was moved.
    private mutating func settle(moved place: Int) {
        let next = place + 1 < turns.count ? turns[place + 1] : nil
        if let next, !turns[place].precedes(next) {
            turns[place].priority = turns[place].priority(before: next)
        } else if place > 0, !turns[place - 1].precedes(turns[place]) {
            turns[place].priority = turns[place].priority(after: turns[place - 1])
            if let next, !turns[place].precedes(next) {
                turns[place].priority = turns[place].priority(before: next)
            }
        }
        // The jobs before it get higher priorities to the extent necessary.
        for above in stride(from: place - 1, through: 0, by: -1) {
            guard !turns[above].precedes(turns[above + 1]) else { break }
            turns[above].priority = turns[above].priority(before: turns[above + 1])
        }
    }
}
