import TransferCore
import TransferEngine
import TransferJobs
package import TransferStore

/// Notes for the next attempt of a job, by the process that has claimed it.
package struct PostgresNotes: Sendable {
    package let database: PostgresDatabase

    package func write(_ notes: [JobNote]) throws {
        // A worker lives on when the database has crashed, and goes by what it has noted.
        let isDurable = database.role.sharesBatches || notes.contains { $0.isDurable }
        try database.writeFenced(isDurable: isDurable) { db in
            for note in notes { try write(db, note) }
        }
    }

    private func write(_ db: PostgresConnection, _ note: JobNote) throws {
        let own = "owner = \(database.process)"
        switch note {
        case .upload(let record, let id):
            // The answer of a server may come after the job was cancelled, and says what that server is to be told to drop.
            try db.run(
                """
                UPDATE job SET upload = $2, upload_goes_on = $3, upload_is_held = $4, is_sending = is_sending AND NOT $5::boolean
                WHERE id = $1 AND (\(own) OR owner IS NULL AND state = \(JobStates.cancelled))
                """,
                [
                    id, record?.text, record?.canGoOn ?? false, record?.holdsSomething ?? false,
                    record?.knowsTheWay == true,
                ])
        case .sending(let id, let isUnrepeatable, nil):
            try db.run("UPDATE job SET is_sending = $2 WHERE id = $1 AND \(own)", [id, isUnrepeatable])
        case .sending(let id, let isUnrepeatable, let version?):
            try db.run(
                """
                UPDATE job SET is_sending = $2, upload = $3, upload_goes_on = $4, upload_is_held = $5
                WHERE id = $1 AND \(own)
                """, [id, isUnrepeatable, version.text, version.canGoOn, version.holdsSomething])
        case .part(let record, let id):
            // A job that has ended meanwhile knows better.
            try db.run(
                "UPDATE job SET resume = $2 WHERE id = $1 AND state = \(JobStates.claimed) AND \(own)",
                [id, try ResumeData.text(record)])
        case .abandoned(let id):
            try db.run(
                """
                UPDATE job SET upload = NULL, upload_goes_on = false, upload_is_held = false
                WHERE id = $1 AND state = \(JobStates.cancelled)
                """, [id])
        // Watched folders are one machine's: their ledger is in its own store.
        case .fingerprint: break
        }
    }
}
