import TransferCore
import TransferEngine
import TransferJobs
package import TransferStore

/// Notes for the next attempt of a job, by the process that has claimed it.
package struct PostgresNotes: Sendable {
    package let database: PostgresDatabase

    package func write(_ notes: [JobNote]) throws {
        // A worker outlives a crash of the database, and relies on its notes.
        let isDurable = database.role.sharesBatches || notes.contains { $0.isDurable }
        try database.writeFenced(isDurable: isDurable, isRepeatable: true) { db in
            for note in notes { try Self.write(db, note, by: database.process) }
        }
    }

    /// - Parameter own: The process that has claimed the job.
    static func write(_ db: PostgresConnection, _ note: JobNote, by own: Int64) throws {
        switch note {
        case .upload(let record, let id):
            // The answer of a server may come after the job was cancelled. It then names the upload that the server
            // must be asked to drop.
            try db.post(
                Self.uploadNote,
                [
                    id, record?.text, record?.canGoOn ?? false, record?.holdsSomething ?? false,
                    record?.knowsTheWay == true, own,
                ])
        case .sending(let id, let isUnrepeatable, nil):
            try db.post(Self.sendingNote, [id, isUnrepeatable, own])
        case .sending(let id, let isUnrepeatable, let version?):
            try db.post(
                Self.versionNote, [id, isUnrepeatable, version.text, version.canGoOn, version.holdsSomething, own])
        case .part(let record, let id):
            // The record of a job that has ended meanwhile is newer.
            try db.post(Self.partNote, [id, try ResumeData.text(record), own])
        case .abandoned(let id):
            try db.post(Self.abandonedNote, [id])
            try PostgresReplacedUploads.forget(db, id)
        case .fingerprint(let fingerprint, let entry):
            try db.post(Self.fingerprintNote, [entry, Int64(bitPattern: fingerprint)])
        }
    }

    // MARK: Statements

    private static let uploadNote = PostgresStatement(
        "note_upload", .work,
        """
        UPDATE job SET upload = $2, upload_goes_on = $3, upload_is_held = $4, is_sending = is_sending AND NOT $5::boolean,
            drop_after = CASE WHEN state = \(JobStates.cancelled) AND $2::text IS NOT NULL THEN \(PostgresUploads.nextTurn) END
        WHERE id = $1 AND (owner = $6 OR owner IS NULL AND state = \(JobStates.cancelled))
        """)

    private static let sendingNote = PostgresStatement(
        "note_sending", .work, "UPDATE job SET is_sending = $2 WHERE id = $1 AND owner = $3")

    private static let versionNote = PostgresStatement(
        "note_version", .work,
        """
        UPDATE job SET is_sending = $2, upload = $3, upload_goes_on = $4, upload_is_held = $5
        WHERE id = $1 AND owner = $6
        """)

    private static let partNote = PostgresStatement(
        "note_part", .work, "UPDATE job SET resume = $2 WHERE id = $1 AND state = \(JobStates.claimed) AND owner = $3")

    private static let abandonedNote = PostgresStatement(
        "note_abandoned", .work,
        """
        UPDATE job SET upload = NULL, upload_goes_on = false, upload_is_held = false, drop_after = NULL
        WHERE id = $1 AND state = \(JobStates.cancelled)
        """)

    private static let fingerprintNote = PostgresStatement(
        "note_fingerprint", .work,
        "UPDATE upload_history SET fingerprint = $2 WHERE id = $1 AND state <> \(HistoryStates.confirmed)")

    package static let statements = [
        fingerprintNote, uploadNote, sendingNote, versionNote, partNote, abandonedNote,
    ]
}
