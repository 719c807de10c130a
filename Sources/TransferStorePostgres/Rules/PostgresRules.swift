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

    package func sharePlaces(_ asks: [SharedPlaces.Ask]) throws -> [SharedPlaces.Given] {
        try database.writeFenced { db in
            // A crash of the database may forget the last second's: each worker tells again what it uses.
            try database.relax(db)
            let places = PostgresPlaces(db: db, process: database.process)
            // All take their turns at several origins in the same order.
            return try asks.sorted { $0.origin < $1.origin }.map { try places.share($0) }
        }
    }
}
