import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

extension JobQueue {
    /// Asks the server of a download about a file that no record could judge. It requests a digest by HEAD
    /// (`Want-Repr-Digest`, RFC 9530), or the ETag of an S3 object, but not the bytes.
    ///
    /// - Returns: The check with the server's verdict, or with the reason why there is none.
    public func askServer(_ check: FileCheck) async -> FileCheck {
        var check = check
        let download = check.download
        do {
            guard let url = download.spec.urls.first else { return check }
            try await runner.tools.leases.ensure(download.spec, runner.builder.secrets)
            let object = try runner.builder.object(download.spec, url: url)
            let request = try runner.builder.inquiry(download.spec, url: url)
            let outcome = await withCheckedContinuation { continuation in
                engine.start(request, makeSink: { AnswerSink(limit: 0) }) { event in
                    if case .ended(let outcome) = event { continuation.resume(returning: outcome) }
                }
            }
            let word = RemoteChecksum(head: try outcome.result.get(), isObject: object != nil)
            check.verdict = try await reader.run { try word.verdict(download) }
        } catch {
            let words = (error as? TransferError)?.message ?? "\(error)"
            check.verdict = .unknown("its server cannot be asked: \(words)")
        }
        return check
    }

    /// Takes up a batch to repair its damaged files. The good bytes are kept, and the others are fetched from the jobs'
    /// sources. A damaged file stays in place until the new one is whole and proven.
    ///
    /// Other open jobs of the batch continue as well.
    ///
    /// - Parameters:
    ///   - name: The name of the batch.
    ///   - checks: The checks of files of this batch; good files are skipped.
    /// - Returns: The batch and the options to run it with.
    /// - Throws: `TransferError` if another process works on the batch (`fileLocked`) or the database fails. A file
    ///   that cannot be copied is not an error: it is fetched whole.
    public func stageRepair(of name: String, _ checks: [FileCheck]) async throws -> (StagedBatch, RunOptions) {
        let store = store
        let held = try await reader.run { try store.hold(.named(name)) }
        guard let batch = held.first else {
            throw TransferError(.fileLocked, "the batch \(Wording.quoted(name)) is being run by another process")
        }
        var options = RunOptions()
        options.repairs = []
        for check in checks {
            guard let plan = RepairPlan(check) else { continue }
            // If the good bytes cannot be copied, the whole file is fetched.
            _ = try? await reader.run { try plan.prepare() }
            options.repairs?.insert(check.download.id)
        }
        let repairs = Array(options.repairs ?? [])
        // An earlier repair may have failed, or its process may have died, so the jobs are reset.
        try await reader.run { try store.redo(repairs, .repair) }
        let staged = StagedJobs(batch: batch, count: options.repairs?.count ?? 0, secrets: [:])
        return (StagedBatch(staged: staged), options)
    }
}
