package import GRDB
import TransferCore
import TransferEngine
package import TransferStore
package import TransferWatch

extension HistoryAnswer {
    /// Looks up a version.
    package static func of(_ db: Database, _ version: FileVersion, folder: Int64) throws -> HistoryAnswer {
        let statement = try db.cachedStatement(
            sql: "SELECT \(HistoryRow.columns) FROM ledger WHERE folder = ? AND inode = ? AND size = ? ORDER BY id DESC")
        let rows = try Row.fetchAll(
            statement, arguments: [folder, version.inodeBits, version.size])
        var look = HistoryAnswer.unknown
        for row in rows.lazy.map(HistoryRow.init) where row.state != .old {
            let isOnDevice = row.version.stamp.device == version.stamp.device
            switch row.version.stamp.onAnyDevice.likeness(to: version.stamp) {
            case .same, .touched:
                if PathKey(row.version.path) == PathKey(version.path) {
                    guard isOnDevice else { return .onOtherDevice(row) }
                    return row.isGone ? .returned(row) : .known(row)
                }
                look = .elsewhere(row)
            case .retimed:
                if case .unknown = look, isOnDevice { look = .otherTime(row) }
            case .other: break
            }
        }
        let named = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT \(HistoryRow.columns) FROM ledger
                    WHERE folder = ? AND path = ? AND size = ? AND inode <> ? ORDER BY id DESC
                    """),
            arguments: [folder, version.path, version.size, version.inodeBits]
        ).map(HistoryRow.init)
        if let row = named.first(where: { FileStamp.mayBeSameTime($0.version.modified, version.modified) }) {
            return .renumbered(row, otherwise: look)
        }
        return named.first { $0.state != .old }.map { .replaced($0, otherwise: look) } ?? look
    }
}
