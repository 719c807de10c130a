import GRDB

extension SQLiteStore {
    /// - Returns: `nil` when there is no such job.
    func networkOrigin(batch: String, job: String) throws -> NetworkOrigin? {
        try read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT source, networkPlaces FROM job JOIN batch ON batch.id = job.batch
                    WHERE batch.name = ? AND identity = ?
                    """, arguments: [batch, job]
            ).map { NetworkOrigin(source: $0[0], places: NetworkPlaces(text: $0[1] ?? "")) }
        }
    }
}
