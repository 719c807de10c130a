import FoundationEssentials
import TransferCore
package import TransferJobs
package import TransferScheduling
package import TransferStore

/// The news of a process about its work, for clients that read the queue. It is deleted with the process.
package struct PostgresRunNotifications: Sendable {
    package let database: PostgresDatabase

    package func save(_ reported: RunProgress) throws {
        let sources = reported.sources.reduce(into: [String: [JobSource]]()) { $0["\($1.key)"] = $1.value }
        let text = String(decoding: try JSONEncoder().encode(sources), as: UTF8.self)
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            _ = try db.post(
                Self.progress,
                [
                    database.process, reported.batch, reported.rate, reported.eta, reported.active,
                    PostgresArray(reported.underWay), text,
                    reported.waitingFor, PostgresArray(reported.rows.flatMap(\.numbers)),
                ])
        }
    }

    package func save(_ waits: Set<OriginWait>) throws {
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            try db.post(Self.hostWaitsOver, [database.process, PostgresArray(waits.map(\.origin))])
            for wait in waits {
                try db.post(
                    Self.hostWait,
                    [
                        database.process, wait.origin, wait.until.map { PostgresClock.wait(until: $0) }, wait.status,
                        wait.message, wait.proxy,
                    ])
            }
        }
    }

    package func save(_ waits: [(network: String, since: WallTime, reason: String)]) throws {
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            try db.post(Self.networkWaitsOver, [database.process])
            for wait in waits {
                try db.post(Self.networkWait, [database.process, wait.network, wait.since.milliseconds, wait.reason])
            }
        }
    }

    /// Deletes the news about a batch that has ended, or that this process no longer works on.
    package static func forget(_ db: PostgresConnection, batch: Int64, of process: Int64) throws {
        try db.post(Self.departure, [process, batch])
    }

    // MARK: Statements

    private static let progress = PostgresStatement(
        "save_run", [.submit, .work],
        """
        INSERT INTO run (process, batch, rate, eta, active, under_way, sources, waiting_for, told)
        SELECT $1, id, $3, $4, $5, $6::bigint[], $7::jsonb, $8, $9::bigint[] FROM batch WHERE id = $2
        ON CONFLICT (process, batch) DO UPDATE SET rate = excluded.rate, eta = excluded.eta,
            active = excluded.active, under_way = excluded.under_way, sources = excluded.sources,
            waiting_for = excluded.waiting_for, told = excluded.told
        """)

    private static let hostWaitsOver = PostgresStatement(
        "drop_host_waits", [.submit, .work],
        """
        DELETE FROM host_wait WHERE process = $1 AND origin <> ALL ($2::text[])
        """)

    private static let hostWait = PostgresStatement(
        "save_host_wait", [.submit, .work],
        """
        INSERT INTO host_wait (process, origin, until, status, message, proxy)
        VALUES ($1, $2, \(PostgresClock.now) + $3, $4, $5, $6)
        ON CONFLICT (process, origin) DO UPDATE SET until = excluded.until, status = excluded.status,
            message = excluded.message, proxy = excluded.proxy
        """)

    private static let networkWaitsOver = PostgresStatement(
        "drop_network_waits", [.submit, .work], "DELETE FROM network_wait WHERE process = $1")

    private static let networkWait = PostgresStatement(
        "save_network_wait", [.submit, .work],
        """
        INSERT INTO network_wait (process, network, since, reason) VALUES ($1, $2, $3, $4)
        """)

    private static let departure = PostgresStatement(
        "drop_run", [.submit, .work], "DELETE FROM run WHERE process = $1 AND batch = $2")

    package static let statements = [
        progress, hostWaitsOver, hostWait, networkWaitsOver, networkWait, departure,
    ]
}
