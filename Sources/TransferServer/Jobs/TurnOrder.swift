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

    /// Moves jobs. The first and the last places get them in the order of the gids. By one place, they move in the order
    /// in which they start, and none passes another of them.
    ///
    /// - Parameter gids: The gids of the jobs, in their order.
    /// - Returns: The numbers of the jobs, and of those that moved; jobs that run or have ended have no turn.
    /// - Throws: A 404 for an unknown gid; a 409 for a job that is too far behind to move by one.
    func move(_ gids: [String], _ place: Place) async throws -> SteeringService.Result {
        var (jobs, numbers): ([JobEntry], Set<Int64>) = ([], [])
        for gid in gids {
            let entry = try await served.job(gid)
            if waits(entry), numbers.insert(entry.number).inserted { jobs.append(entry) }
        }
        var result = SteeringService.Result(matched: gids.count)
        guard !jobs.isEmpty else { return result }
        let order = try await order(for: jobs, place)
        var plan = TurnPlan(order.map { TurnPlan.Turn($0) })
        let turns = jobs.map { TurnPlan.Turn($0) }
        result.changed =
            switch place {
            case .first: plan.putFirst(turns)
            case .last: plan.putLast(turns)
            case .up: plan.step(numbers, forwards: true)
            case .down: plan.step(numbers, forwards: false)
            }
        try await served.setPriorities(jobs + order.filter { !numbers.contains($0.number) }, plan.changes)
        return result
    }

    private func waits(_ entry: JobEntry) -> Bool {
        !entry.listed.state.hasEnded
            && !JobJSON.isUnderWay(entry, live.job(entry.listed.job, batch: entry.batch))
    }

    /// Reads the part of the order that decides where the jobs go.
    private func order(for jobs: [JobEntry], _ place: Place) async throws -> [JobEntry] {
        switch place {
        case .first: return try await waiting(skipping: 0, limit: jobs.count + 1)
        case .last:
            let count = try await served.look { try $0.count(Self.selection) }
            return try await waiting(skipping: max(0, count - jobs.count - 1), limit: jobs.count + 1)
        case .up, .down:
            let page = try await waiting(skipping: 0, limit: Self.mostNeighbours + 1)
            let known = Set(page.prefix(Self.mostNeighbours).map(\.number))
            guard page.count <= Self.mostNeighbours || jobs.allSatisfy({ known.contains($0.number) }) else {
                throw Problem.conflict(
                    "tooFar",
                    "the job waits behind \(CountText.words(Self.mostNeighbours, "job")): move it to the front")
            }
            return page.filter(waits)
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
