import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

/// The output about a service's batches and jobs, in the form of that about a queue in a folder.
struct RemoteReading {
    let client: ServiceClient
    let hint: CommandHint

    private struct Jobs: Decodable {
        struct Job: Decodable {
            let gid: String
            let id: String
        }

        let jobs: [Job]
    }

    private struct Forgotten: Decodable { let forgotten: [String] }

    /// Returns the batch with that name, which may be a short one.
    ///
    /// - Throws: `Failure` where there is none.
    private func batch(_ text: String, among batches: [ServiceClient.Batch]) throws -> ServiceClient.Batch {
        let names = BatchNames(batches.map(\.name))
        guard let name = try names.find(text), let batch = batches.first(where: { $0.name == name }) else {
            throw hint.noBatch(text, among: names)
        }
        return batch
    }

    // MARK: why

    func why(_ text: String, json: Bool) async throws {
        let batches = try await client.batches()
        let names = BatchNames(batches.map(\.name))
        let (named, job) = try names.split(text)
        let batch = try batch(named, among: batches).name
        let (shown, lasting) = (names.short(batch), names.lasting(batch))
        guard let job, !job.isEmpty else {
            let (any, all) = (hint.command("why", "\(lasting)/JOB"), hint.command("status", lasting))
            throw Failure(.wrongUsage, "name a job: \(any); \(all) shows the batch")
        }
        let gid = try await gid(of: job, in: batch)
        let record = try await client.ask("GET", "jobs/\(gid)/why", as: ExplanationRecord.self)
        guard let explanation = record.explanation else {
            throw Failure(.stateUnusable, "\(client.base) is a newer version: this one does not know its answer")
        }
        let terminal = Terminal(STDOUT_FILENO, environment: Composition.environment)
        let charset = terminal.charset
        let lines =
            json
            ? [WhyText.json(explanation, troubles: record.troubles)]
            : WhyText.lines(
                explanation, charset: charset, batch: shown, lasting: lasting, hint: hint, width: terminal.tableWidth)
        for line in lines { print(line) }
        guard !json else { return }
        for trouble in record.troubles { print(charset.visible(HookText.line(trouble))) }
    }

    /// Returns the identifier of a job.
    ///
    /// - Throws: `Failure` where the batch has no such job.
    func gid(of job: String, in batch: String) async throws -> String {
        let query = "jobs?limit=1&batch=\(PercentEncoding.encode(batch))&id=\(PercentEncoding.encode(job))"
        if let found = try await client.ask("GET", query, as: Jobs.self).jobs.first { return found.gid }
        let others = "jobs?limit=1000&batch=\(PercentEncoding.encode(batch))"
        let known = try await client.ask("GET", others, as: Jobs.self).jobs.map(\.id)
        let nearest = known.first { !job.isEmpty && $0.contains(job) } ?? NearestKey.suggestion(for: job, among: known)
        let hint = nearest.map { "; did you mean \(Wording.quoted($0))?" } ?? ""
        throw Failure(.wrongUsage, "no job \(Wording.quoted(job)) in the batch \(Wording.quoted(batch))\(hint)")
    }

    // MARK: wait

    /// Waits until the batch has no job left, or the service does not run it.
    ///
    /// - Returns: The number of jobs that have not ended, and of those that did not complete.
    func wait(_ text: String) async throws -> (remaining: Int, incomplete: Int) {
        var batch = try batch(text, among: try await client.batches())
        let loop = try EventLoop(name: "service")
        defer { loop.stop() }
        if batch.isOpen {
            for await _ in Ticks.every(.milliseconds(500), on: loop) {
                batch = try await client.ask("GET", "batches/\(batch.key)", as: ServiceClient.Batch.self)
                if !batch.isOpen { break }
            }
        }
        return (batch.remaining, batch.failed + batch.skipped + batch.cancelled)
    }

    // MARK: forget

    /// Forgets batches.
    ///
    /// - Parameter text: A batch; `nil` for those that ended that long ago.
    func forget(_ text: String?, olderThan age: Duration) async throws {
        let batches = try await client.batches()
        let names = BatchNames(batches.map(\.name))
        guard let text else {
            let path = "batches?olderThan=\(age.inSeconds)"
            for name in try await client.ask("DELETE", path, as: Forgotten.self).forgotten {
                print("forgotten: \(names.short(name))")
            }
            return
        }
        let batch = try batch(text, among: batches)
        try await client.ask("DELETE", "batches/\(batch.key)")
        print("forgotten: \(names.short(batch.name))")
    }
}

extension ServiceClient.Batch {
    /// Whether a process runs the batch, and it has work left.
    fileprivate var isOpen: Bool { pid != nil && (remaining > 0 || state == "watching") }
}
