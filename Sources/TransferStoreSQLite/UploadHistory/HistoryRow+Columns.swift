package import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferStore
import TransferWatch

extension HistoryRow {
    package static let columns =
        "ledger.id, device, inode, ledger.size, ledger.modified, ledger.path, ledger.state, ledger.digest, ledger.gone IS NOT NULL, ledger.staged, ledger.changed, ledger.fingerprint, "
        + "EXISTS (SELECT 1 FROM job WHERE job.id = ledger.job AND (job.state = \(JobStates.cancelled) OR job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent'))"

    package init(_ row: Row) {
        let version = FileVersion(
            device: UInt64(bitPattern: row[stored: 1] as Int64), inode: UInt64(bitPattern: row[stored: 2] as Int64),
            size: row[stored: 3],
            modified: row[stored: 4], path: row[stored: 5], changed: row[stored: 10])
        let digest: String? = row[stored: 7]
        self.init(
            id: row[stored: 0], version: version, state: HistoryState(rawValue: row[stored: 6]) ?? .open,
            digest: digest.flatMap { Checksum($0) }, isGone: row[stored: 8], staged: row[stored: 9],
            fingerprint: (row[stored: 11] as Int64?).map { UInt64(bitPattern: $0) }, isGivenUp: row[stored: 12])
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
