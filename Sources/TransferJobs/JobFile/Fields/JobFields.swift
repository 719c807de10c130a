import TransferCore

/// The table of a job's keys. A new key needs a row here, and a property of the type that holds its value.
///
/// The table is a value, so that a test can add a row.
package final class JobFields: Sendable {
    package static let all = JobFields(
        WorkFields.rows + SettingsFields.rows + UploadFields.rows,
        stored: [ConfinementField.row, SealedField.row, FrontField.row])

    package let rows: [JobField]
    /// The keys of a job.
    package let table: KeyTable<JobField>
    /// The keys of a stored job; those that no job file can have come last.
    package let storedTable: KeyTable<JobField>
    /// The keys of `defaults`.
    package let defaults: KeyTable<JobField>
    /// The keys of an entry of `watch`.
    package let watch: KeyTable<WatchKey>
    package let bits: Bits
    package let order: Order
    /// The keys that only some protocols have.
    private let owned: [JobField]

    /// Creates a table.
    ///
    /// - Parameter stored: The keys that only canonical texts have.
    package init(_ rows: [JobField], stored: [JobField] = []) {
        self.rows = rows
        table = KeyTable(rows) { $0.key }
        storedTable = KeyTable(rows + stored) { $0.key }
        defaults = KeyTable(rows.filter { $0.places.contains(.defaults) }) { $0.key }
        watch = KeyTable(
            WatchKey.Own.allCases.map(WatchKey.own)
                + rows.filter { $0.places.contains(.watch) }.map(WatchKey.job), name: \.name)
        bits = Bits(table)
        order = Order(rows + stored)
        owned = Self.ownedByProtocols(rows)
    }

    /// Returns the keys that this protocol lacks but others have.
    package func foreign(to one: JobSpec.UploadProtocol) -> [JobField] {
        let own = one.entry.keys
        return owned.filter { !own.contains($0.key) }
    }

    /// The bits of the keys that are checked for each job.
    package struct Bits: Sendable {
        package let download: UInt64
        package let upload: UInt64
        package let to: UInt64
        package let tls: UInt64
        package let ofDownloads: UInt64
        package let ofUploads: UInt64
        /// The keys of downloads that concern the local file.
        package let ofFiles: UInt64
        package let destination: UInt64
        /// Keys that only some protocols have.
        package let ofProtocols: UInt64

        private static let fileKeys: Set<String> = [
            "compressed", "ifExists", "adopt", "strict", "remoteTime", "pieces",
        ]

        package init(_ table: KeyTable<JobField>) {
            download = table.bit(of: JobKey.download.rawValue)
            upload = table.bit(of: JobKey.upload.rawValue)
            to = table.bit(of: JobKey.to.rawValue)
            tls = table.bit(of: JobKey.tls.rawValue)
            ofDownloads = table.bits { $0.isOfDownloadsOnly }
            ofUploads = table.bits { $0.isOfUploadsOnly }
            ofFiles = table.bits { Self.fileKeys.contains($0.key) }
            destination = table.bit(of: JobKey.destination.rawValue)
            ofProtocols = table.bits { $0.isOfProtocols }
        }
    }

    package func has(_ key: JobKey, _ seen: UInt64) -> Bool { seen & table.bit(of: key.rawValue) != 0 }
}
