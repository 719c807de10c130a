import TransferCore
import TransferEngine
import TransferJobs
package import TransferScheduling
package import TransferStore

/// The memory of runs. Pauses that servers asked for hold for all workers; the usage of metered links is kept for each
/// machine.
package struct PostgresRunStatus: Sendable {
    package let database: PostgresDatabase

    package func publish(_ news: RunNotification) throws {
        switch news {
        case .pause(let pause): try save(pause)
        case .noPauses: try forgetPauses()
        case .usage(let rows): try save(rows)
        case .progress(let progress): try PostgresRunNotifications(database: database).save(progress)
        case .hostWaits(let waits): try PostgresRunNotifications(database: database).save(waits)
        case .networkWaits(let waits): try PostgresRunNotifications(database: database).save(waits)
        // Links and sockets belong to one machine, and readers may be on another one.
        case .silentLinks, .socket: break
        }
    }

    // MARK: Pauses

    private func save(_ pause: StoredPause) throws {
        try database.write(isDurable: false, isRepeatable: true) { db in
            try db.post(
                Self.newPause, [pause.origin, pause.remaining.inMilliseconds, pause.status, pause.message, pause.proxy])
            try PostgresNotice.pause.tell(db)
        }
    }

    private func forgetPauses() throws {
        try database.write(isDurable: false, isRepeatable: true) { db in
            try db.post(Self.noPauses)
            try PostgresNotice.noPauses.tell(db)
        }
    }

    /// - Returns: The pauses that are not over.
    package func pauses() throws -> [StoredPause] {
        try database.write(isDurable: false, isRepeatable: true) { db in
            try db.post(Self.pausesOver)
            return try db.run(Self.allPauses)
                .map(Self.pause)
        }
    }

    /// Returns the pause of an origin, whichever process received it.
    package static func pause(_ db: PostgresConnection, origin: String) throws -> StoredPause? {
        try db.run(Self.originPause, [origin]).first.map(pause)
    }

    private static func pause(_ row: PostgresRow) -> StoredPause {
        StoredPause(
            origin: row.text(0) ?? "", remaining: .milliseconds(max(0, row.number(1) ?? 0)), status: row.int(2),
            message: row.text(3) ?? "", proxy: row.text(4))
    }

    // MARK: Metered links

    private func save(_ usage: [MeteredUsage.Row]) throws {
        try database.write(isDurable: false, isRepeatable: true) { db in
            try db.post(Self.oldUsage, [MachineName.current])
            for row in usage {
                try db.post(Self.newUsage, [MachineName.current, row.kind.rawValue, row.hour, row.bytes])
            }
        }
    }

    package func meteredUsage() throws -> [MeteredUsage.Row] {
        try database.read { db in
            try db.run(Self.usage, [MachineName.current])
                .compactMap { row in
                    LinkClass(rawValue: row.text(0) ?? "").map {
                        MeteredUsage.Row(kind: $0, hour: row.number(1) ?? 0, bytes: row.number(2) ?? 0)
                    }
                }
        }
    }

    // MARK: Counts

    package func census(of batches: [Int64], from first: Int64) throws -> StoreCounts {
        try database.read { db in
            let size = try db.run(Self.size).first?.number(0)
            let open = try db.run(Self.oldestOpen, [first, PostgresArray(batches)]).first
            return StoreCounts(oldest: open?.number(1), firstOpen: open?.number(0) ?? first, bytes: size ?? 0)
        }
    }

    // MARK: Statements

    private static let newPause = PostgresStatement(
        "save_pause", .work,
        """
        INSERT INTO pause (origin, until, status, message, proxy) VALUES ($1, \(PostgresClock.now) + $2, $3, $4, $5)
        ON CONFLICT (origin) DO UPDATE SET until = greatest(pause.until, excluded.until), status = excluded.status,
            message = excluded.message, proxy = excluded.proxy
        """)

    private static let noPauses = PostgresStatement("drop_pauses", .work, "DELETE FROM pause")

    private static let pausesOver = PostgresStatement(
        "drop_old_pauses", [.submit, .work], "DELETE FROM pause WHERE until <= \(PostgresClock.now)")

    private static let allPauses = PostgresStatement(
        "pauses", [.submit, .work], "SELECT origin, until - \(PostgresClock.now), status, message, proxy FROM pause")

    private static let originPause = PostgresStatement(
        "pause_of_origin", .all,
        """
        SELECT origin, until - \(PostgresClock.now), status, message, proxy FROM pause WHERE origin = $1
        """)

    private static let oldUsage = PostgresStatement(
        "drop_usage", [.submit, .work], "DELETE FROM metered_usage WHERE host = $1")

    private static let newUsage = PostgresStatement(
        "save_usage", [.submit, .work], "INSERT INTO metered_usage (host, kind, hour, bytes) VALUES ($1, $2, $3, $4)")

    private static let usage = PostgresStatement(
        "metered_usage_of", [.submit, .work], "SELECT kind, hour, bytes FROM metered_usage WHERE host = $1")

    private static let size = PostgresStatement(
        "size_of_queue", [.submit, .work],
        """
        SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')
        """)

    private static let oldestOpen = PostgresStatement(
        "oldest_open_job", [.submit, .work],
        """
        SELECT id, made FROM job WHERE id >= $1 AND batch = ANY ($2::bigint[]) AND state < \(JobStates.firstEnded)
        ORDER BY id LIMIT 1
        """)

    package static let statements = [
        newPause, noPauses, pausesOver, allPauses, originPause, oldUsage, newUsage, usage, size, oldestOpen,
    ]
}
