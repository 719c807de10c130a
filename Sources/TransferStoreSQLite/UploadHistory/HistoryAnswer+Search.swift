package import GRDB
import TransferCore
import TransferEngine
package import TransferStore
package import TransferWatch

extension HistoryAnswer {
    /// Looks up a version.
    package static func of(_ db: Database, _ version: FileVersion, folder: Int64) throws -> HistoryAnswer {
        let sameFile = try Row.fetchAll(
            db.cachedStatement(
                sql:
                    "SELECT \(HistoryRow.columns) FROM ledger WHERE folder = ? AND inode = ? AND size = ? ORDER BY id DESC"
            ),
            arguments: [folder, version.inodeBits, version.size]
        ).map(HistoryRow.init)
        let sameName = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT \(HistoryRow.columns) FROM ledger
                    WHERE folder = ? AND path = ? AND size = ? AND inode <> ? ORDER BY id DESC
                    """),
            arguments: [folder, version.path, version.size, version.inodeBits]
        ).map(HistoryRow.init)
        return .of(version, sameFile: sameFile, sameName: sameName)
    }
}
