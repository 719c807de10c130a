import HTTPTypes
import Hummingbird
import TransferQueue

/// The routes for jobs, which clients submit, list and read.
struct JobRoutes: Sendable {
    let served: ServedQueue
    let live: LiveJobs
    let log: AttemptLog
    let submissions: SubmissionService
    let cleared: ClearedEnds

    func add(to routes: RouterGroup<ServerContext>) {
        routes.post("jobs") { request, _ in try await submit(request) }
        routes.get("jobs") { request, context in try await list(request, context) }
        routes.get("jobs/:gid") { _, context in try await look(context) }
        routes.patch("jobs/:gid") { request, context in try await change(request, context) }
        routes.get("jobs/:gid/why") { _, context in try await why(context) }
        routes.get("jobs/:gid/attempts") { _, context in try await attempts(context) }
        routes.get("jobs/:gid/receipt") { _, context in try await receipt(context) }
        routes.get("failures") { request, context in try await failures(request, context) }
    }

    private func submit(_ request: Request) async throws -> Response {
        let form = try JobBody.format(request.mediaType)
        let bytes = try await request.bytes(upTo: submissions.limits.bodyBytes)
        let isSingle = JobFrame.isSingle(bytes, form)
        let batch = request.query("batch") ?? SubmissionService.standardBatch
        let startsPaused = request.query("paused") == "1"
        return try await submissions.requests.answer(try IdempotencyKey.read(request, body: bytes)) { key in
            let read = try await submissions.read(bytes, format: form, isJobs: true)
            let taken = try await submissions.submit(read.jobs, batch: batch, startsPaused: startsPaused, key: key)
            return Self.answer(taken.numbers, added: taken.added, isSingle: isSingle)
        } again: { known in
            Self.answer(known.numbers, added: known.added, isSingle: isSingle)
        }
    }

    private static func answer(_ numbers: [Int64], added: Int, isSingle: Bool) -> Response {
        if isSingle, let number = numbers.first {
            let gid = JobNumberCode.job.name(number)
            return .json(.created, headers: [.location: "/api/v1/jobs/\(gid)"]) { writer in
                writer.member("gid", gid)
                writer.member("added", added)
                writer.member("same", 1 - added)
            }
        }
        return .json(.created) { writer in
            writer.member("added", added)
            writer.member("same", numbers.count - added)
            writer.member("gids", numbers.map(JobNumberCode.job.name))
        }
    }

    private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let selection = try JobQuery.selection(request)
        let hasCleared = try JobQuery.hasCleared(request)
        let page = try await served.look { [selection] in try $0.jobs(selection) }
        var headers: HTTPFields = [:]
        var next = JobQuery.cursor(after: page, of: selection)
        // All ends behind the mark are cleared.
        if !hasCleared, case .latestEnd = selection.order, let end = page.last?.cursor, end <= cleared.mark {
            next = nil
        }
        if let next, let name = HTTPField.Name("Link") {
            headers[name] = "<\(JobQuery.path(request, cursor: next))>; rel=\"next\""
        }
        let isOwner = context.level == .owner
        // The live data alone distinguishes active jobs from those that a process has merely claimed.
        let names = Set((request.query("state") ?? "").split(separator: ",").map(String.init))
        let meant = (hasCleared ? page : cleared.shows(page)).filter { entry in
            names.isEmpty || names.contains(JobJSON.state(of: entry, live.job(entry.listed.job, batch: entry.batch)))
        }
        return .json(headers: headers) { writer in
            writer.member("jobs", objects: meant) { writer, entry in
                JobJSON.write(
                    &writer, entry, live.job(entry.listed.job, batch: entry.batch),
                    last: live.last(entry.listed.job, batch: entry.batch), isOwner: isOwner)
            }
            writer.member("next", next)
        }
    }

    private func entry(_ context: ServerContext) async throws -> JobEntry {
        try await served.job(try context.parameters.require("gid"))
    }

    private func look(_ context: ServerContext) async throws -> Response {
        let entry = try await entry(context)
        return .json { writer in
            JobJSON.write(
                &writer, entry, live.job(entry.listed.job, batch: entry.batch),
                last: live.last(entry.listed.job, batch: entry.batch), isOwner: context.level == .owner)
        }
    }

    /// Applies a merge patch (RFC 7396) to the values that can change without changing the job's identity.
    private func change(_ request: Request, _ context: ServerContext) async throws -> Response {
        let entry = try await entry(context)
        let change = try JobChange(try await JSONBody.object(request))
        guard !entry.listed.state.hasEnded else {
            throw Problem.conflict("ended", "the job is \(entry.listed.state.name)")
        }
        try await served.amend(entry) { change.make(&$0) }
        return try await look(context)
    }

    private func why(_ context: ServerContext) async throws -> Response {
        let entry = try await entry(context)
        let (explanation, troubles) = try await served.look { remote in
            (
                try remote.explain(batch: entry.batch, job: entry.listed.job),
                try remote.hookTroubles(batch: entry.batch, limit: Self.mostTroubles)
            )
        }
        return .json(
            bytes: try ExplanationJSON.bytes(
                explanation, troubles, gid: JobNumberCode.job.name(entry.number), isOwner: context.level == .owner))
    }

    /// Answers with all known attempts, in their order.
    private func attempts(_ context: ServerContext) async throws -> Response {
        let entry = try await entry(context)
        let seen = log.attempts(of: entry.listed.job, batch: entry.batch)
        let end =
            seen.isEmpty && entry.listed.state.hasEnded
            ? try await served.look { try $0.end(batch: entry.batch, job: entry.listed.job) } : nil
        return .json { writer in
            writer.member("gid", JobNumberCode.job.name(entry.number))
            writer.member("count", entry.listed.attempts)
            let attempts = seen.isEmpty ? end.flatMap { AttemptLog.Attempt($0) }.map { [$0] } ?? [] : seen
            writer.member("attempts", objects: attempts) { writer, attempt in
                AttemptJSON.write(&writer, attempt, isOwner: context.level == .owner)
            }
        }
    }

    private static let mostTroubles = 1000

    private func receipt(_ context: ServerContext) async throws -> Response {
        let entry = try await entry(context)
        let end = try await served.look { try $0.end(batch: entry.batch, job: entry.listed.job) }
        switch end?.kind {
        case .finished(let receipt), .kept(let receipt):
            let isOwner = context.level == .owner
            return .json(
                bytes: JSONObject.bytes { object in
                    object.field("gid", JobNumberCode.job.name(entry.number))
                    object.field("batch", entry.batch)
                    object.field("id", entry.listed.job)
                    QueueJSON.receipt(receipt, &object) { JobJSON.shown($0, isOwner) }
                })
        default:
            throw Problem.conflict(
                "notDone", "the job is \(entry.listed.state.name): only one that is done has a receipt")
        }
    }

    /// Answers with the failed jobs grouped by reason and host, the largest group first.
    private func failures(_ request: Request, _ context: ServerContext) async throws -> Response {
        let batch = request.query("batch")
        let hidden = try JobQuery.hasCleared(request) || cleared.isEmpty ? [] : try await clearedFailures(batch)
        let groups = try await served.look { remote in
            let names = try batch.map { [$0] } ?? remote.batchNames()
            return FailureGroups(
                try names.flatMap { try remote.failures(batch: $0, limit: FailureGroups.most) }, hiding: hidden)
        }
        return .json { writer in
            writer.member("cleared", groups.hidden)
            writer.member("groups", objects: groups.all) { writer, group in
                writer.member("code", group.code)
                writer.member("host", group.host)
                writer.member("batch", group.batch)
                writer.member("message", group.message)
                writer.member("jobs", group.count)
                writer.member("ids", group.examples)
            }
        }
    }

    /// Returns the failed jobs that clients have cleared.
    private func clearedFailures(_ batch: String?) async throws -> Set<FailureGroups.Name> {
        var selection = JobSelection()
        selection.batch = batch
        selection.states = [.failed]
        selection.limit = FailureGroups.most
        let failed = try await served.look { [selection] in try $0.jobs(selection) }
        let shown = Set(cleared.shows(failed).map(\.number))
        return Set(
            failed.filter { !shown.contains($0.number) }.map {
                FailureGroups.Name(batch: $0.batch, job: $0.listed.job)
            })
    }
}
