import TransferCore
package import TransferScheduling
import TransferStore

/// The bounds of origins that all workers of the queue keep together.
package struct PostgresRules: SharedRules {
    package let database: PostgresDatabase

    package func reserveStarts(_ asks: [SharedRateTokens.Ask]) throws -> [SharedRateTokens.Given] {
        // The times are durable, because a crash of the database that forgot them would give them twice. After a
        // repetition the first times are lost.
        try database.write(isRepeatable: true) { db in try asks.map { try PostgresPace.reserve(db, $0) } }
    }

    package func sharePlaces(_ asks: [SharedPermits.Ask]) throws -> [SharedPermits.Given] {
        // A crash of the database may forget the last second's places: each worker reports its use again.
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            try PostgresPermits(db: db, process: database.process).share(asks)
        }
    }
}
