public import TransferCore
import TransferEventLoop

/// A cancelled upload of which a server holds a part, as it couldn't be told.
public struct UntoldUpload: Sendable, Hashable {
    public var batch: String
    public var job: String
    /// Why not.
    public var reason: TransferError
    /// Whether a secret of its job file is wanting, which is never stored.
    public var needsItsJobFile: Bool
}

extension JobQueue {
    /// Tells the servers of uploads that were cancelled while nobody ran them that they can free what they hold: a running
    /// queue does that by itself.
    ///
    /// Batches that another process works on are left to it. What can't be told stays known, and the next call tries again:
    /// only a success, or a server that has nothing (404, 410), is an end.
    ///
    /// - Parameters:
    ///   - names: Of batches.
    ///   - limit: The longest that this waits for servers.
    /// - Returns: What couldn't be told.
    /// - Throws: When the database fails.
    @discardableResult
    public func abandonCancelled(in names: [String], within limit: Duration) async throws -> [UntoldUpload] {
        let store = store
        let batches = try await reader.run {
            try names.flatMap { try store.hold(.named($0)) }
        }
        for batch in batches { await runner.abandonCancelled(batch.id) }
        let deadline = Task {
            // The limit is a time, so it's waited for by time.
            try await Task.sleep(for: limit)
            stop()
        }
        await runner.waitForEnd()
        deadline.cancel()
        if let failure = await runner.state.failure { throw failure }
        await runner.endRun()
        let reasons = await runner.untoldUploads
        return try await reader.run {
            var untold: [UntoldUpload] = []
            for batch in batches {
                for job in try store.heldUploads(batch: batch.id) {
                    let needsItsFile = reasons[job.id] == nil && job.hasSecrets
                    let reason = reasons[job.id] ?? (needsItsFile ? Self.secretIsGone : Self.tookTooLong)
                    untold.append(
                        UntoldUpload(
                            batch: batch.name, job: job.identity, reason: reason, needsItsJobFile: needsItsFile))
                }
                _ = try store.letGo(batch: batch.id, isComplete: false)
            }
            return untold
        }
    }

    private static let secretIsGone = TransferError(
        .secretMissing, "its URL or headers hold a secret, which is never stored")
    private static let tookTooLong = TransferError(.timedOut, "it didn't answer in time", isTransient: true)
}
