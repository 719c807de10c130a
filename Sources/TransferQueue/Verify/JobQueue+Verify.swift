import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

extension JobQueue {
    /// Asks the server of a download about a file that nothing recorded could judge: for a digest by HEAD
    /// (`Want-Repr-Digest`, RFC 9530), or for the ETag of an object of S3's. Its bytes aren't fetched.
    ///
    /// - Returns: The check with the server's verdict, or with the reason why there is none.
    public func askServer(_ check: FileCheck) async -> FileCheck {
        var check = check
        let download = check.download
        do {
            guard let url = download.spec.urls.first else { return check }
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
            check.verdict = .unknown("its server can't be asked: \(words)")
        }
        return check
    }

    /// Takes up a batch in order to make its damaged files whole: what is left of good bytes is kept, and the rest fetched
    /// from the jobs' sources. A damaged file stays where it is until the new one is whole and proven.
    ///
    /// What else the batch has to do goes on as well.
    ///
    /// - Parameter checks: Of files of that batch; those that are good are passed over.
    /// - Returns: The batch and the options to run it with.
    /// - Throws: ``StagingError/held(batch:pid:)`` when another process works on the batch; `TransferError`.
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
            // Without a beginning the whole is fetched.
            _ = try? await reader.run { try plan.prepare() }
            options.repairs?.insert(check.download.id)
        }
        let repairs = Array(options.repairs ?? [])
        // Whatever became of an earlier repair: it may have failed, or its process may have died.
        try await reader.run { try store.redo(repairs, .repair) }
        let staged = StagedJobs(batch: batch, count: options.repairs?.count ?? 0, secrets: [:])
        return (StagedBatch(staged: staged), options)
    }
}
