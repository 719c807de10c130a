import GRDB
import TransferCore
import TransferJobs
package import TransferStore

/// Notes for the next attempt of a job.
package struct JobNotes: Sendable {
    package let database: QueueDatabase

    package func write(_ notes: [JobNote]) throws {
        try database.writeFenced(isDurable: notes.contains { $0.isDurable }) { db in
            for note in notes { try Self.write(db, note) }
        }
    }

    static func write(_ db: Database, _ note: JobNote) throws {
        switch note {
        case .upload(let record, let id):
            try db.cachedStatement(sql: "UPDATE job SET upload = ?, isSending = isSending AND NOT ? WHERE id = ?")
                .execute(arguments: [record?.text, record?.knowsTheWay == true, id])
        case .sending(let id, let isUnrepeatable, let version):
            try db.cachedStatement(sql: "UPDATE job SET isSending = ?, upload = ifnull(?, upload) WHERE id = ?")
                .execute(arguments: [isUnrepeatable, version?.text, id])
        case .part(let record, let id):
            // The record of a job that has ended meanwhile is newer.
            try db.cachedStatement(
                sql: "UPDATE job SET resume = ? WHERE id = ? AND state = \(JobStates.claimed)"
            ).execute(arguments: [try ResumeData.text(record), id])
        case .fingerprint(let fingerprint, let row):
            try db.cachedStatement(
                sql: "UPDATE ledger SET fingerprint = ? WHERE id = ? AND state <> \(HistoryStates.confirmed)"
            ).execute(arguments: [Int64(bitPattern: fingerprint), row])
        case .abandoned(let id):
            try db.cachedStatement(sql: "UPDATE job SET upload = NULL WHERE id = ? AND state = \(JobStates.cancelled)")
                .execute(arguments: [id])
        }
    }
}
