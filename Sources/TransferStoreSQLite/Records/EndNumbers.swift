package import GRDB
import TransferStore

/// The numbers of ends, which are the cursors of their readers: each is given once.
package enum EndNumbers {
    package static func last(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT value FROM counter WHERE name = 'end'") ?? 0
    }

    /// Takes the next numbers.
    ///
    /// - Returns: The last of the numbers.
    package static func take(_ db: Database, _ count: Int) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: "UPDATE counter SET value = value + ? WHERE name = 'end' RETURNING value")
        return try Int64.fetchOne(statement, arguments: [count]) ?? 0
    }

    /// Gives ends that one statement wrote, all with the next number, a number of their own: cursors never repeat.
    package static func number(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE job SET endSequence = endSequence - 1 + ends.number
                FROM (SELECT id AS ended, row_number() OVER (ORDER BY id) AS number FROM job
                    WHERE endSequence > (SELECT value FROM counter WHERE name = 'end')) AS ends
                WHERE id = ends.ended;
                UPDATE counter SET value = (SELECT max(value, coalesce(max(endSequence), 0)) FROM job) WHERE name = 'end'
                """)
    }
}
