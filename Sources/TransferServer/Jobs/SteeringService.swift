import HTTPTypes
import TransferQueue

/// Commands of clients to jobs, of whichever process runs them.
struct SteeringService: Sendable {
    let served: ServedQueue

    enum Selection: Sendable {
        case all
        case batch(String)
        case gids([String])
        /// - Parameter isUnderWay: Whether only those whose transfers are under way are meant, or only others; `nil` for both.
        case jobs(JobSelection, isUnderWay: Bool?)
    }

    struct Result: Sendable {
        var matched = 0
        var changed = 0
    }

    /// The most jobs of one command that names neither a batch nor all.
    static let mostJobs = 10_000

    /// - Throws: A 422 for a selection that means nothing: none means all but the word itself.
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
