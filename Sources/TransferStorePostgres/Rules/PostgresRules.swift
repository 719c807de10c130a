import TransferCore
package import TransferScheduling
import TransferStore

/// The bounds of origins that all workers of the queue keep together.
package struct PostgresRules: SharedRules {
    package let database: PostgresDatabase

    package func reserveStarts(_ asks: [SharedStarts.Ask]) throws -> [SharedStarts.Given] {
        // A crash of the database that forgot them would give the same times twice.
        try database.write { db in try asks.map { try PostgresPace.reserve(db, $0) } }
    }
}
