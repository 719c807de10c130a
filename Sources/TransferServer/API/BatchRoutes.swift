import HTTPTypes
import Hummingbird
import TransferQueue

/// Batches: whole job files, submitted, changed, looked at and forgotten.
struct BatchRoutes: Sendable {
    let served: ServedQueue
    let submissions: SubmissionDesk

    func add(to routes: RouterGroup<ServerContext>) {
        routes.get("batches") { _, _ in try await list() }
        routes.post("batches") { request, _ in try await submit(request) }
        routes.get("batches/:key") { _, context in try await look(context) }
        routes.put("batches/:key") { request, context in try await replace(request, context) }
        routes.delete("batches/:key") { _, context in try await forget(context) }
    }

    private func list() async throws -> Response {
        let (statuses, numbers) = try await served.look { (try $0.statuses(), try JobNames.batchNumbers(in: $0)) }
        return .json { writer in
            writer.member("batches", objects: statuses) { writer, status in
                BatchJSON.write(&writer, status, number: numbers[status.name] ?? 0)
            }
        }
    }

    private func look(_ context: ServerContext) async throws -> Response {
        try await answer(.ok, try await served.batch(try context.parameters.require("key")))
    }

    private func answer(
        _ code: HTTPResponse.Status, _ status: BatchStatus, added: Int? = nil, same: Int? = nil
    ) async throws -> Response {
        let number = try await served.look { try JobNames.batchNumbers(in: $0)[status.name] ?? 0 }
        var headers: HTTPFields = [:]
        if code == .created { headers[.location] = "/api/v1/batches/\(JobNumberCode.batch.name(number))" }
        return .json(code, headers: headers) { writer in
            BatchJSON.write(&writer, status, number: number)
            writer.member("added", added)
            writer.member("same", same)
        }
    }

    /// A new batch is taken whole; to one that is there its further jobs are added.
    private func submit(_ request: Request) async throws -> Response {
        let read = try await read(request)
        guard let name = request.query("name") ?? read.batch.name else {
            throw Problem(.unprocessableContent, "badName", "the batch has no name", hint: "add ?name=…")
        }
        let known = try await submissions.check(batch: name)
        if request.query("dryRun") == "1" { return try await plan(name, read, known) }
        if known != nil {
            let taken = try await submissions.submit(read.jobs, batch: name)
            let status = try await served.look { try $0.statuses(name: name).first } ?? known
            guard let status else { throw Problem.notFound("the batch was forgotten meanwhile") }
            return try await answer(.ok, status, added: taken.added, same: taken.numbers.count - taken.added)
        }
        return try await answer(
            .created, try await stage(name, read.jobs, keeps: true), added: read.jobs.count, same: 0)
    }

    /// The batch becomes what the job file says: unchanged jobs stay as they are, and those that it lacks are dropped.
    private func replace(_ request: Request, _ context: ServerContext) async throws -> Response {
        let status = try await served.batch(try context.parameters.require("key"))
        try await submissions.check(batch: status.name)
        let read = try await read(request)
        return try await answer(.ok, try await stage(status.name, read.jobs, keeps: false))
    }

    private func read(_ request: Request) async throws -> OutsideReader.Read {
        let format = try JobBody.format(request.mediaType)
        let bytes = try await request.bytes(upTo: submissions.limits.bodyBytes)
        let read = try await submissions.read(bytes, format: format, isJobs: false)
        guard !read.jobs.isEmpty else { throw Problem(.unprocessableContent, "invalidJobs", "there is no job in it") }
        return read
    }

    private func stage(_ name: String, _ jobs: [JobSpec], keeps: Bool) async throws -> BatchStatus {
        do {
            let staged = try await served.queue.stage(
                name: name, source: nil, directory: served.rules.directory, keepsWhatIsMissing: keeps, isReload: true
            ) { take in
                for job in jobs { try take(job, nil) }
                return true
            }
            await served.queue.begin(staged)
        } catch {
            throw SubmissionDesk.problem(error)
        }
        guard let status = try await served.look({ try $0.statuses(name: name).first }) else {
            throw Problem.notFound("the batch was forgotten meanwhile")
        }
        return status
    }

    /// Answers with the jobs that the batch would get, and takes none of them.
    private func plan(_ name: String, _ read: OutsideReader.Read, _ known: BatchStatus?) async throws -> Response {
        let report = try await served.off { [rules = served.rules] in
            try JobChecker().check(name, directory: rules.directory) { take in
                for job in read.jobs { try take(job, nil) }
                return JobFileReport()
            }
        }
        guard report.isEmpty else { throw SubmissionDesk.problem(StagingError.faults(report)) }
        return .json { writer in
            writer.member("name", name)
            writer.member("jobs", read.jobs.count)
            writer.member("isNew", known == nil)
            writer.member("files", Array(read.jobs.prefix(100).map(\.identity)))
        }
    }

    private func forget(_ context: ServerContext) async throws -> Response {
        let status = try await served.batch(try context.parameters.require("key"))
        guard status.folder == nil else {
            throw Problem.conflict("foreignBatch", "a watched folder's batch is forgotten on its own machine only")
        }
        let forgotten = try await served.look { try $0.forget(name: status.name, endedBefore: nil) }
        guard !forgotten.isEmpty else {
            throw Problem.conflict("running", "the batch runs: cancel it first")
        }
        return .nothing
    }
}
