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
        var plan = TurnPlan(waiting.map { TurnPlan.Turn($0) })
        plan.move(from: old, to: new)
        try await served.setPriorities(waiting, plan.changes)
    }
}
