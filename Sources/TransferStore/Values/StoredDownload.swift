package import TransferCore
package import TransferJobs

/// A selection of completed downloads.
package enum DownloadSelection: Sendable, Hashable {
    case batch(String)
    /// The downloads that wrote the file at that path.
    case file(String)
}

/// A completed download, with the recorded facts about its file.
package struct StoredDownload: Sendable {
    package let id: Int64
    package let batch: String
    package let identity: String
    package let path: String
    package let facts: FileStamp
    /// The digest that the file was verified by, or that its server gave.
    package let digest: Checksum?
    package let validator: String?
    /// The URL that was asked last, without secrets.
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
