package import TransferCore
package import TransferJobs

/// The completed downloads that are looked at.
package enum DownloadSelection: Sendable, Hashable {
    case batch(String)
    /// The downloads that wrote the file of that path.
    case file(String)
}

/// A completed download, with what its record says of the file.
package struct StoredDownload: Sendable {
    package let id: Int64
    package let batch: String
    package let identity: String
    package let path: String
    package let facts: FileStamp
    /// By which it was proved, or which its server gave.
    package let digest: Checksum?
    package let validator: String?
    /// Redacted.
    package let finalURL: String
    package let sums: PieceSumList?
    package let spec: JobSpec

    package init(
        id: Int64, batch: String, identity: String, path: String, facts: FileStamp, digest: Checksum?,
        validator: String?, finalURL: String, sums: PieceSumList?, spec: JobSpec
    ) {
        self.id = id
        self.batch = batch
        self.identity = identity
        self.path = path
        self.facts = facts
        self.digest = digest
        self.validator = validator
        self.finalURL = finalURL
        self.sums = sums
        self.spec = spec
    }
}
