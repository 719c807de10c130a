package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs
import TransferStore

extension WatchedVersion {
    /// Returns the version of a row of the upload history.
    package static func find(_ db: Database, history: Int64) throws -> WatchedVersion {
        let statement = try db.cachedStatement(
            sql: """
                SELECT inode, size, modified, digest, verifies, changed, failures, fingerprint
                FROM ledger JOIN watchedFolder ON watchedFolder.id = ledger.folder WHERE ledger.id = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [history]) else {
            // A version that matches no file: the job is dropped.
            return WatchedVersion(
                history: history, stamp: FileStamp(inode: 0, size: -1, modified: 0), digest: nil, verifies: false)
        }
        let digest: String? = row[stored: 3]
        let stamp = FileStamp(
            inode: UInt64(bitPattern: row[stored: 0] as Int64), size: row[stored: 1], modified: row[stored: 2],
            changed: row[stored: 5])
        return WatchedVersion(
            history: history, stamp: stamp, digest: digest.flatMap { Checksum($0) }, verifies: row[stored: 4],
            failures: row[stored: 6], fingerprint: (row[stored: 7] as Int64?).map { UInt64(bitPattern: $0) })
    }
}
