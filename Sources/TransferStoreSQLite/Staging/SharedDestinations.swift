package import GRDB
package import TransferJobs
package import TransferStore

/// The search for jobs of a batch with one destination and different identities.
package struct SharedDestinations {
    private var hasIDs = false
    private var hasRelativePaths = false
    private var hasAbsolutePaths = false
    private var format = JobFileFormat.json

    package mutating func note(_ job: StagedJob) {
        if let place = job.place { format = place.format }
        if job.spec.id != nil { hasIDs = true }
        if !job.row.isUpload {
            if job.spec.hasRelativePath { hasRelativePaths = true } else { hasAbsolutePaths = true }
        }
    }

    /// Whether two jobs may share a destination. Without IDs and with paths of one kind the destination is the
    /// identity, in one spelling.
    package var mayBeShared: Bool { hasIDs || hasRelativePaths && hasAbsolutePaths }

    package func find(_ db: Database, batch: Int64, _ report: inout JobFileReport) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT max(id), destination, line, column, width, number,
                    (SELECT identity FROM job AS first WHERE first.batch = job.batch
                        AND first.destination = job.destination ORDER BY id LIMIT 1),
                    (SELECT line FROM job AS first WHERE first.batch = job.batch
                        AND first.destination = job.destination ORDER BY id LIMIT 1), isUpload
                FROM job WHERE batch = ? AND destination <> '' GROUP BY destination HAVING count(*) > 1 LIMIT 20
                """, arguments: [batch])
        for row in rows {
            let span = SourceSpan(line: row[stored: 2] ?? 1, column: row[stored: 3] ?? 1, length: row[stored: 4] ?? 1)
            let place = JobLocations(index: row[stored: 5] ?? 0, job: span, to: span, format: format)
            let other = (row[stored: 7] as Int?).map { " (line \($0))" } ?? ""
            let offer = (row[stored: 8] as Bool) || (row[stored: 2] as Int?) == nil ? "" : "; \(Collisions.offer)"
            report.add(
                place.destinationFault("same destination as job \"\(row[stored: 6] as String)\"\(other)\(offer)"))
        }
    }
}
