package import GRDB
import TransferStore

extension HistoryRow {
    package static let columns = """
        \(HistoryColumn.selection), EXISTS (SELECT 1 FROM job WHERE job.id = ledger.job AND (job.state = \(JobStates.cancelled)
            OR job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent'))
        """

    package init(_ row: Row) {
        self.init(UploadHistoryEntry(row), isGivenUp: row[stored: HistoryColumn.allCases.count])
    }

    /// Notes that a file is at its path, where it was not found before.
    ///
    /// - Returns: Whether an action on the file is left.
    package static func cameBack(_ db: Database, _ row: Int64) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "UPDATE ledger SET gone = NULL WHERE id = ? AND gone IS NOT NULL RETURNING due")
        guard let found = try Row.fetchOne(statement, arguments: [row]) else { return false }
        return (found[stored: 0] as Int64?) != nil
    }
}
