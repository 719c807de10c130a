import HTTPTypes
import TransferQueue

/// The handler of clients' commands to jobs, whichever process runs them.
struct SteeringService: Sendable {
    let served: ServedQueue

    enum Selection: Sendable {
        case all
        case batch(String)
        case gids([String])
        /// The jobs of a query.
        ///
        /// - Parameter isUnderWay: Whether only active jobs or only inactive ones are selected; `nil` for both.
        case jobs(JobSelection, isUnderWay: Bool?)
    }

    struct Result: Sendable {
        var matched = 0
        var changed = 0
    }

    /// The maximum number of jobs for a command that names neither a batch nor all jobs.
    static let mostJobs = 10_000

    /// Parses a selection.
    ///
    /// - Throws: A 422 for an invalid or empty selection; only the word `all` selects all jobs.
    static func selection(_ value: JSONValue) throws -> Selection {
        if value.text == "all" { return .all }
        guard let members = value.members, !members.isEmpty else {
            throw refusal("it is \"all\" or an object with keys")
        }
        let known: Set<String> = ["gids", "batch", "state", "code", "host", "q"]
        if let stranger = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw refusal("unknown key \(Wording.quoted(stranger))")
        }
        if let gids = members["gids"] {
            guard members.count == 1, let names = gids.elements?.compactMap(\.text),
                names.count == gids.elements?.count,
                names.count <= mostJobs
            else { throw refusal("\"gids\" is a list of at most \(mostJobs) names, and stands alone") }
            return .gids(names)
        }
        func text(_ key: String) throws -> String? {
            guard let value = members[key] else { return nil }
            guard let text = value.text else { throw refusal("\"\(key)\" is a string") }
            return text
        }
        if members.count == 1, let batch = try text("batch") { return .batch(batch) }
        var selection = JobSelection()
        selection.batch = try text("batch")
        selection.code = try text("code")
        selection.text = try text("q")
        if let host = try text("host") {
            guard let origin = Origin(anyURL: host) else { throw refusal("\"host\" is an origin") }
            selection.origin = origin.description
        }
        let state = try text("state")
        if let state {
            guard let states = JobJSON.states(state) else { throw refusal("no such \"state\"") }
            selection.states = states
        }
        return .jobs(selection, isUnderWay: selection.states == [.claimed] ? state == JobJSON.running : nil)
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.unprocessableContent, "badSelection", detail)
    }

    func steer(_ verb: QueueVerb, _ selection: Selection) async throws -> Result {
        switch selection {
        case .all:
            var result = Result()
            for name in try await served.look({ try $0.batchNames() }) {
                let one = try await steer(verb, batch: name)
                result.matched += one.matched
                result.changed += one.changed
            }
            return result
        case .batch(let name): return try await steer(verb, batch: name)
        case .gids(let gids):
            var entries: [JobEntry] = []
            for gid in gids { entries.append(try await served.job(gid)) }
            return try await steer(verb, entries)
        case .jobs(var jobs, let isUnderWay):
            jobs.limit = Self.mostJobs + 1
            let entries = try await served.look { [jobs] in try $0.jobs(jobs) }
            guard entries.count <= Self.mostJobs else {
                throw Problem(
                    .contentTooLarge, "tooMany",
                    "more than \(CountText.words(Self.mostJobs, "job")) are meant: name their batch")
            }
            return try await steer(verb, entries.filter { isUnderWay == nil || $0.isUnderWay == isUnderWay })
        }
    }

    /// Clears ended jobs from lists.
    ///
    /// - Returns: The numbers of the ended jobs that are meant, and of those that were listed until now.
    func clear(_ selection: Selection, from lists: ClearedEnds) async throws -> Result {
        var meant = JobSelection()
        switch selection {
        case .all:
            let ended = Self.ended(meant)
            // The cursor, which is read first, covers no end that the count lacks.
            let (cursor, count) = try await served.look { (try $0.lastCursor(), try $0.count(ended)) }
            lists.clear(upTo: cursor)
            return Result(matched: count, changed: count)
        case .gids(let gids):
            var entries: [JobEntry] = []
            for gid in gids { entries.append(try await served.job(gid)) }
            return Self.clear(entries.filter(\.listed.state.hasEnded), from: lists)
        case .batch(let name): meant.batch = name
        case .jobs(let jobs, _): meant = jobs
        }
        meant.limit = Self.mostJobs + 1
        let entries = try await served.look { [meant] in try $0.jobs(Self.ended(meant)) }
        guard entries.count <= Self.mostJobs else {
            throw Problem(
                .contentTooLarge, "tooMany",
                "more than \(CountText.words(Self.mostJobs, "job")) are meant: \"all\" clears every ended job")
        }
        return Self.clear(entries, from: lists)
    }

    private static func clear(_ entries: [JobEntry], from lists: ClearedEnds) -> Result {
        let listed = lists.shows(entries)
        lists.clear(listed)
        return Result(matched: entries.count, changed: listed.count)
    }

    /// Restricts a selection to jobs that have ended.
    private static func ended(_ selection: JobSelection) -> JobSelection {
        let ended = Set(JobState.allCases.filter(\.hasEnded))
        var selection = selection
        selection.states = selection.states.isEmpty ? ended : selection.states.intersection(ended)
        if selection.states.isEmpty { selection.numbers = [] }
        return selection
    }

    private func steer(_ verb: QueueVerb, batch: String) async throws -> Result {
        var selection = JobSelection()
        selection.batch = batch
        let all = selection
        selection.states = Set(JobState.allCases.filter(verb.changes))
        let meant = selection
        let result = try await served.look { remote in
            Result(matched: try remote.count(all), changed: try remote.count(meant))
        }
        try await served.queue.ask(verb, batch: batch)
        return result
    }

    private func steer(_ verb: QueueVerb, _ entries: [JobEntry]) async throws -> Result {
        var result = Result(matched: entries.count)
        for entry in entries where verb.changes(entry.listed.state) {
            try await served.queue.ask(verb, batch: entry.batch, job: entry.listed.job)
            result.changed += 1
        }
        return result
    }
}
