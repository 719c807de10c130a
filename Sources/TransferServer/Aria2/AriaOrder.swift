import TransferQueue

/// The order of waiting downloads, by their priorities and then by their numbers.
struct AriaOrder: Sendable {
    let served: ServedQueue

    /// Moves a download.
    ///
    /// - Returns: The new position.
    func change(_ parameters: AriaParameters, _ downloads: AriaDownloads) async throws -> Int {
        let entry = try await downloads.entry(try parameters.text(0))
        let (distance, way) = (try parameters.integer(1), try parameters.text(2))
        let waiting = try await waiting(downloads)
        guard let place = waiting.firstIndex(where: { $0.number == entry.number }) else {
            throw AriaError("GID#\(AriaGID.name(entry)) not found in the waiting queue.")
        }
        let target: Int
        switch way {
        case "POS_SET": target = distance
        case "POS_CUR": target = place + distance
        case "POS_END": target = waiting.count - 1 + distance
        default: throw AriaError("Illegal argument.")
        }
        let goal = min(max(0, target), waiting.count - 1)
        try await move(waiting, from: place, to: goal)
        return goal
    }

    /// Moves a newly added download to a position; a download that has started already has none.
    func move(_ gid: String, to place: Int, _ downloads: AriaDownloads) async throws {
        guard place >= 0 else { throw AriaError("Illegal argument.") }
        let entry = try await downloads.entry(gid)
        let waiting = try await waiting(downloads)
        guard let old = waiting.firstIndex(where: { $0.number == entry.number }) else { return }
        try await move(waiting, from: old, to: min(place, waiting.count - 1))
    }

    private func waiting(_ downloads: AriaDownloads) async throws -> [JobEntry] {
        let selection = try await downloads.waitingSelection()
        return try await served.look { try $0.jobs(selection) }
    }

    private func move(_ waiting: [JobEntry], from old: Int, to new: Int) async throws {
        guard old != new else { return }
        var order = waiting
        order.insert(order.remove(at: old), at: new)
        for (entry, priority) in Self.priorities(for: order, moved: new) {
            try await served.amend(entry) { $0.priority = priority }
        }
    }

    /// Returns the fewest changes of priorities that put the jobs into this order.
    ///
    /// - Parameter moved: The new index of the moved job; the other jobs keep their relative order.
    static func priorities(for order: [JobEntry], moved: Int) -> [(JobEntry, Int)] {
        var changes: [(JobEntry, Int)] = []
        // Returns whether a job of one priority precedes another job.
        func precedes(_ entry: JobEntry, _ priority: Int, _ next: JobEntry, _ nextPriority: Int) -> Bool {
            priority > nextPriority || priority == nextPriority && entry.number < next.number
        }
        let entry = order[moved]
        var priority = entry.priority
        if moved + 1 < order.count, !precedes(entry, priority, order[moved + 1], order[moved + 1].priority) {
            let next = order[moved + 1]
            priority = next.priority + (entry.number < next.number ? 0 : 1)
        } else if moved > 0, !precedes(order[moved - 1], order[moved - 1].priority, entry, priority) {
            let before = order[moved - 1]
            priority = before.priority - (entry.number > before.number ? 0 : 1)
            if moved + 1 < order.count, !precedes(entry, priority, order[moved + 1], order[moved + 1].priority) {
                let next = order[moved + 1]
                priority = next.priority + (entry.number < next.number ? 0 : 1)
            }
        }
        if priority != entry.priority { changes.append((entry, priority)) }
        // The jobs before it get higher priorities to the extent necessary.
        var (below, lowest) = (entry, priority)
        for index in stride(from: moved - 1, through: 0, by: -1) {
            let above = order[index]
            guard !precedes(above, above.priority, below, lowest) else { break }
            lowest += above.number < below.number ? 0 : 1
            changes.append((above, lowest))
            below = above
        }
        return changes
    }
}
