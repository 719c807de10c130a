import TransferQueue

/// The order in which waiting jobs start, as clients change it: by the jobs' priorities and then by their numbers.
struct TurnOrder: Sendable {
    let served: ServedQueue
    let live: LiveJobs

    /// The place to which jobs are moved.
    enum Place: String, CaseIterable, Sendable {
        case first, last, up, down
    }

    /// The maximum number of jobs in one move.
    static let mostJobs = 100
    /// The maximum number of waiting jobs among which a job moves by one.
    static let mostNeighbours = 10_000

    /// Moves jobs, which keep their order among themselves.
    ///
    /// - Parameter gids: The gids of the jobs, in their order.
    /// - Returns: The numbers of the jobs, and of those that moved; jobs that run or have ended have no turn.
    /// - Throws: A 404 for an unknown gid; a 409 for a job that is too far behind to move by one.
    func move(_ gids: [String], _ place: Place) async throws -> SteeringService.Result {
        var result = SteeringService.Result(matched: gids.count)
        // The job that gets the outer place comes last, or first where each follows the one before.
        for gid in place == .first || place == .down ? gids.reversed() : gids {
            let entry = try await served.job(gid)
            guard waits(entry) else { continue }
            for (changed, priority) in try await changes(for: entry, place) {
                try await served.amend(changed) { $0.priority = priority }
            }
            result.changed += 1
        }
        return result
    }

    private func waits(_ entry: JobEntry) -> Bool {
        !entry.listed.state.hasEnded
            && !JobJSON.isUnderWay(entry, live.job(entry.listed.job, batch: entry.batch))
    }

    private func changes(for entry: JobEntry, _ place: Place) async throws -> [(JobEntry, Int)] {
        switch place {
        case .first:
            guard let first = try await waiting(skipping: 0, limit: 1).first, first.number != entry.number else {
                return []
            }
            return AriaOrder.priorities(for: [entry, first], moved: 0)
        case .last:
            let count = try await served.look { try $0.count(Self.selection) }
            guard let last = try await waiting(skipping: max(0, count - 1), limit: 1).first,
                last.number != entry.number
            else { return [] }
            return AriaOrder.priorities(for: [last, entry], moved: 1)
        case .up, .down:
            var order = try await waiting(skipping: 0, limit: Self.mostNeighbours).filter(waits)
            guard let old = order.firstIndex(where: { $0.number == entry.number }) else {
                throw Problem.conflict(
                    "tooFar",
                    "the job waits behind \(CountText.words(Self.mostNeighbours, "job")): move it to the front")
            }
            let new = place == .up ? old - 1 : old + 1
            guard order.indices.contains(new) else { return [] }
            order.swapAt(old, new)
            return AriaOrder.priorities(for: order, moved: new)
        }
    }

    /// The jobs that wait, and those that a process has claimed, which may wait too.
    private static var selection: JobSelection {
        var selection = JobSelection()
        selection.states = AriaDownloads.waitingStates.union([.claimed])
        return selection
    }

    private func waiting(skipping count: Int, limit: Int) async throws -> [JobEntry] {
        var selection = Self.selection
        selection.order = .turn(skipping: count)
        selection.limit = limit
        return try await served.look { [selection] in try $0.jobs(selection) }
    }
}
