package import GRDB
import TransferCore
package import TransferJobs
package import TransferScheduling
import TransferStore

/// A run's reports on the machine's links, and on jobs that the rules for links keep waiting.
package struct LinkReports: Sendable {
    package let database: QueueDatabase

    package func meteredUsage() throws -> [MeteredUsage.Row] {
        try database.read(leavesPacks: true) { db in
            try Row.fetchAll(db, sql: "SELECT kind, hour, bytes FROM meteredUsage").compactMap { row in
                LinkClass(rawValue: row[stored: 0]).map {
                    MeteredUsage.Row(kind: $0, hour: row[stored: 1], bytes: row[stored: 2])
                }
            }
        }
    }

    package func save(_ usage: [MeteredUsage.Row]) throws {
        try database.writeRelaxed(leavesPacks: true) { db in
            try db.execute(sql: "DELETE FROM meteredUsage")
            let statement = try db.cachedStatement(sql: "INSERT INTO meteredUsage (kind, hour, bytes) VALUES (?, ?, ?)")
            for row in usage { try statement.execute(arguments: [row.kind.rawValue, row.hour, row.bytes]) }
        }
    }

    /// Writes the links over which no host answers to where `transfer why` finds them.
    package func save(silentLinks: [(name: String, suspicion: LinkHealth.Suspicion)]) throws {
        try database.writeRelaxed(leavesPacks: true) { db in
            try db.execute(sql: "DELETE FROM silentLink")
            for (name, suspicion) in silentLinks {
                try db.execute(
                    sql: "INSERT INTO silentLink (name, since, unanswered, isBlamed) VALUES (?, ?, ?, ?)",
                    arguments: [name, suspicion.since.milliseconds, suspicion.unanswered, suspicion.isBlamed])
            }
        }
    }

    /// Replaces this process's last report of its waits for the network.
    package func save(networkWaits: [(network: String, since: WallTime, reason: String)]) throws {
        try database.writeRelaxed(leavesPacks: true) { db in
            try db.execute(sql: "DELETE FROM networkWait WHERE process = ?", arguments: [database.process])
            for wait in networkWaits {
                try db.execute(
                    sql: "INSERT INTO networkWait (process, network, since, reason) VALUES (?, ?, ?, ?)",
                    arguments: [database.process, wait.network, wait.since.milliseconds, wait.reason])
            }
        }
    }

    package func silentLinks() throws -> [String: LinkHealth.Suspicion] {
        try database.read(leavesPacks: true) { db in
            try Row.fetchAll(db, sql: "SELECT name, since, unanswered, isBlamed FROM silentLink")
                .reduce(into: [:]) { links, row in
                    links[row[stored: 0]] = LinkHealth.Suspicion(
                        since: WallTime(milliseconds: row[stored: 1]), unanswered: row[stored: 2],
                        isBlamed: row[stored: 3])
                }
        }
    }

    /// - Returns: The time since when a process keeps jobs with these rules waiting, and the reason.
    package static func networkWait(
        _ db: Database, network: String, process: Int64
    ) throws -> (since: WallTime, reason: String)? {
        try Row.fetchOne(
            db, sql: "SELECT since, reason FROM networkWait WHERE process = ? AND network = ?",
            arguments: [process, network]
        ).map { (WallTime(milliseconds: $0[stored: 0]), $0[stored: 1]) }
    }
}
