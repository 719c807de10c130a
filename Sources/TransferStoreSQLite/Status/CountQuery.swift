import GRDB
import Glibc
import TransferCore
package import TransferStore

/// The counts for tools that measure the queue. Jobs have no time of their own, so each census notes the highest job
/// number and the time.
package struct CountQuery: Sendable {
    package let database: QueueDatabase

    /// The number of jobs that one step reads, and the number of steps in one census. The next census continues there.
    private static let page = 20_000
    private static let pages = 10
    /// The time in milliseconds for which notes are kept, which is that of ended batches.
    private static let kept: Int64 = 30 * 86_400_000

    package func census(of batches: [Int64], from first: Int64, now: Int64) throws -> StoreCounts {
        var census = StoreCounts(firstOpen: first, bytes: bytes)
        // Nothing is written unless there are new jobs.
        let (last, seen) = try database.read(leavesPacks: true) { db in
            (
                try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'job'") ?? 0,
                try Int64.fetchOne(db, sql: "SELECT max(last) FROM jobsSeen") ?? -1
            )
        }
        if last > seen {
            try database.writeRelaxed(leavesPacks: true) { db in
                try db.execute(sql: "INSERT OR IGNORE INTO jobsSeen VALUES (?, ?)", arguments: [last, now])
                try db.execute(sql: "DELETE FROM jobsSeen WHERE time < ?", arguments: [now - Self.kept])
            }
        }
        guard !batches.isEmpty else { return census }
        try database.read(leavesPacks: true) { db in
            let meant = batches.map { "\($0)" }.joined(separator: ",")
            let packed = try Int64.fetchOne(db, sql: "SELECT min(first) FROM pack WHERE batch IN (\(meant))")
            let open = try Self.firstOpen(db, of: meant, &census.firstOpen)
            guard let oldest = [packed, open].compactMap(\.self).min() else { return }
            census.oldest = try Int64.fetchOne(
                db, sql: "SELECT time FROM jobsSeen WHERE last >= ? ORDER BY last LIMIT 1", arguments: [oldest])
        }
        return census
    }

    /// - Parameter first: The number of the job at which the search begins; set to the one at which the next search
    ///   begins.
    private static func firstOpen(_ db: Database, of batches: String, _ first: inout Int64) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT min(CASE WHEN state < \(JobStates.firstEnded) AND batch IN (\(batches)) THEN id END), max(id), count(*)
                FROM (SELECT id, state, batch FROM job WHERE id >= ? ORDER BY id LIMIT \(page))
                """)
        for _ in 0..<pages {
            guard let row = try Row.fetchOne(statement, arguments: [first]), let last: Int64 = row[stored: 1] else {
                return nil
            }
            if let open: Int64 = row[stored: 0] {
                first = open
                return open
            }
            let count: Int = row[stored: 2]
            guard count == page else { return nil }
            first = last + 1
        }
        return nil
    }

    private var bytes: Int64 {
        [database.path, database.path + "-wal"].reduce(0) { sum, path in
            var status = stat()
            return stat(path, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }
}
