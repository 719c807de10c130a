import HTTPTypes
import Hummingbird
import TransferEventLoop
import TransferQueue

/// The routes for batches: whole job files that clients submit, change, read and forget.
struct BatchRoutes: Sendable {
    let served: ServedQueue
    let submissions: SubmissionService

    func add(to routes: RouterGroup<ServerContext>) {
        routes.get("batches") { _, _ in try await list() }
        routes.post("batches") { request, _ in try await submit(request) }
        routes.delete("batches") { request, _ in try await forgetOld(request) }
        routes.get("batches/:key") { _, context in try await look(context) }
        routes.put("batches/:key") { request, context in try await replace(request, context) }
        routes.patch("batches/:key") { request, context in try await change(request, context) }
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
        _ code: HTTPResponse.Status, _ status: BatchStatus, added: Int? = nil, same: Int? = nil, changed: Int? = nil
    ) async throws -> Response {
        let number = try await served.look { try JobNames.batchNumbers(in: $0)[status.name] ?? 0 }
        var headers: HTTPFields = [:]
        if code == .created { headers[.location] = "/api/v1/batches/\(JobNumberCode.batch.name(number))" }
        return .json(code, headers: headers) { writer in
            BatchJSON.write(&writer, status, number: number)
            writer.member("added", added)
            writer.member("same", same)
            writer.member("changed", changed)
        }
    }

    /// Submits a job file. A new batch is accepted as a whole; an existing one gets the additional jobs.
    private func submit(_ request: Request) async throws -> Response {
        let body = try await Body(request, submissions)
        if request.query("dryRun") == "1" { return try await plan(request, try await read(body)) }
        return try await submissions.requests.answer(try IdempotencyKey.read(request, body: body.bytes)) { key in
            let name = try await name(request, body)
            guard let known = try await submissions.check(batch: name) else {
                let staged = try await stage(name, body, keeps: true, key)
                return try await answer(
                    staged.isNew ? .created : .ok, try await status(name), added: staged.jobs, same: 0)
            }
            let read = try await read(body)
            let taken = try await submissions.submit(read.jobs, batch: known.name, key: key)
            return try await answer(
                .ok, try await status(name), added: taken.added, same: taken.numbers.count - taken.added)
        } again: { known in
            let status = try await served.batch(JobNumberCode.batch.name(known.batch))
            return try await answer(
                known.isNewBatch ? .created : .ok, status, added: known.added,
                same: max(0, known.numbers.count - known.added))
        }
    }

    /// Replaces a batch's jobs with those of a job file: unchanged jobs stay, and jobs missing from the file are
    /// dropped.
    private func replace(_ request: Request, _ context: ServerContext) async throws -> Response {
        let name = try await served.batch(try context.parameters.require("key")).name
        try await submissions.check(batch: name)
        try await stage(name, try await Body(request, submissions), keeps: false)
        return try await answer(.ok, try await status(name))
    }

    /// Applies a merge patch (RFC 7396) to the values that can change without changing a job's identity. Ended jobs
    /// keep theirs.
    private func change(_ request: Request, _ context: ServerContext) async throws -> Response {
        let batch = try await served.batch(try context.parameters.require("key"))
        let change = try JobChange(try await JSONBody.object(request))
        guard batch.remaining > 0 else { throw Problem.conflict("ended", "all jobs of the batch have ended") }
        let changed = try await served.amend(batch: batch.name) { change.make(&$0) }
        return try await answer(.ok, try await status(batch.name), changed: changed)
    }

    /// A job file as received.
    private struct Body: Sendable {
        let format: JobFileFormat?
        let bytes: [UInt8]

        init(_ request: Request, _ submissions: SubmissionService) async throws {
            format = try JobBody.format(request.mediaType)
            bytes = try await request.bytes(upTo: submissions.limits.bodyBytes)
        }
    }

    private func read(_ body: Body) async throws -> OutsideReader.Read {
        try await submissions.read(body.bytes, format: body.format, isJobs: false)
    }

    private func name(_ request: Request, _ body: Body) async throws -> String {
        let reader = submissions.reader
        if let name = request.query("name") ?? reader.name(body.bytes, format: body.format) { return name }
        // The reader's faults are more informative for an unreadable file.
        _ = try await read(body)
        throw Problem(.unprocessableContent, "badName", "the batch has no name", hint: "add ?name=…")
    }

    private func status(_ name: String) async throws -> BatchStatus {
        guard let status = try await served.look({ try $0.statuses(name: name).first }) else {
            throw Problem.notFound("the batch was forgotten meanwhile")
        }
        return status
    }

    @discardableResult
    private func stage(
        _ name: String, _ body: Body, keeps: Bool, _ key: SubmissionKey? = nil
    ) async throws -> StagedBatch {
        let (reader, submissions) = (submissions.reader, submissions)
        do {
            let staged = try await served.queue.stage(
                BatchHeader(name: name, directory: served.rules.directory, onFinish: .set(nil)),
                StagingOptions(
                    keepsWhatIsMissing: keeps, isReload: true, notes: key.map { [SubmissionNote($0)] } ?? [])
            ) { take in
                // Faults of the file are known at its end; nothing of a faulty file stays.
                _ = try reader.read(body.bytes, format: body.format, isJobs: false) { spec in
                    try take(try submissions.sealed(spec), nil)
                }
                return true
            }
            await served.queue.begin(staged)
            return staged
        } catch {
            throw SubmissionService.problem(error)
        }
    }

    /// Answers with the jobs that the batch would get, without adding them.
    private func plan(_ request: Request, _ read: OutsideReader.Read) async throws -> Response {
        guard let name = request.query("name") ?? read.batch.name else {
            throw Problem(.unprocessableContent, "badName", "the batch has no name", hint: "add ?name=…")
        }
        let known = try await submissions.check(batch: name)
        let report = try await served.off { [rules = served.rules, isShared = served.queue.isShared] in
            try JobChecker(isShared: isShared).check(name, directory: rules.directory) { take in
                for job in read.jobs { try take(job, nil) }
                return JobFileReport()
            }
        }
        guard report.isEmpty else { throw SubmissionService.problem(StagingError.faults(report)) }
        return .json { writer in
            writer.member("name", name)
            writer.member("jobs", read.jobs.count)
            writer.member("isNew", known == nil)
            writer.member("files", Array(read.jobs.prefix(100).map(\.identity)))
        }
    }

    /// Forgets batches that ended before a certain age.
    private func forgetOld(_ request: Request) async throws -> Response {
        guard let age = request.query("olderThan").flatMap({ Double($0) }), (0...10_000_000_000).contains(age) else {
            throw Problem.malformed("olderThan says how many seconds ago they ended")
        }
        let forgotten = try await served.look { remote in
            try remote.forget(name: nil, endedBefore: WallClock.milliseconds - Int64((age * 1000).rounded()))
        }
        return .json { $0.member("forgotten", forgotten) }
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
