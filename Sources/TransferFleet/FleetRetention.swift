import TransferStorePostgres

/// The removal of batches that ended long ago from a shared queue. Their files stay.
public final class FleetRetention: Sendable {
    private let store: PostgresStore
    /// The number of batches that are looked for at a time.
    private static let page = 100

    /// Connects to an existing queue. The login has the part `submit` or `work`.
    ///
    /// - Throws: `TransferError` when there is no queue, or it cannot be reached.
    public init(_ address: FleetAddress) throws { store = try PostgresStore(address.postgres, .onlooker) }

    /// Removes the batches that have been over for at least that time by the database's clock: all their jobs ended
    /// before, and no process has used them since. The function blocks.
    ///
    /// Each transaction removes 1,000 jobs at most, so that others wait for none of them. Several processes may do so at
    /// once. An interrupted removal is continued by the next one.
    ///
    /// - Returns: The names of the batches.
    /// - Throws: `TransferError` when the database fails.
    public func prune(olderThan age: Duration) throws -> [String] {
        let retention = PostgresRetention(database: store.database)
        do {
            var (names, last): ([String], Int64) = ([], 0)
            while true {
                let found = try retention.candidates(olderThan: age, after: last, limit: Self.page)
                for batch in found {
                    var step: PostgresRetention.Step
                    repeat {
                        step = try retention.prune(batch: batch.id, olderThan: age)
                    } while step.jobs == PostgresRetention.mostJobs
                    if step.isGone { names.append(batch.name) }
                }
                guard found.count == Self.page, let end = found.last?.id else { return names }
                last = end
            }
        } catch {
            throw store.fault(error)
        }
    }
}
