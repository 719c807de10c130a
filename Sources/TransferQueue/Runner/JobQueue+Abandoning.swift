import TransferCore
import TransferEventLoop

extension JobQueue {
    /// Tells the servers of uploads that were cancelled while nobody ran them that they can free what they hold: a running
    /// queue does that by itself.
    ///
    /// Batches that another process works on are left to it. What can't be told stays known, and the next call tries again.
    ///
    /// - Parameters:
    ///   - names: Of batches.
    ///   - limit: The longest that this waits for servers.
    /// - Throws: When the database fails.
    public func abandonCancelled(in names: [String], within limit: Duration) async throws {
        let store = store
        let batches = try await reader.run { try names.compactMap { try store.holdForAbandoning(batch: $0) } }
        for batch in batches { await runner.abandonCancelled(batch) }
        let deadline = Task {
            // The limit is a time, so it's waited for by time.
            try await Task.sleep(for: limit)
            stop()
        }
        await runner.waitForEnd()
        deadline.cancel()
        if let failure = await runner.failure { throw failure }
        await runner.endRun()
        try await reader.run { for batch in batches { _ = try store.letGo(batch: batch) } }
    }
}
