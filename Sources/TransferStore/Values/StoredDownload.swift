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

extension StoredDownload {
    /// The columns that ``init(batch:_:)`` reads, in the order of a row. The name of the batch follows them.
    package static let columns: [JobColumn] = [
        .id, .identity, .path, .size, .modified, .digest, .validator, .finalURL, .sums, .spec,
    ]

    /// Creates a download from its row.
    ///
    /// - Parameters:
    ///   - batch: The name of the job's batch.
    ///   - value: A function that returns the row's value of a column.
    /// - Returns: `nil` for a job without a file, or with a description of a newer version.
    package init?(batch: String, _ value: (JobColumn) -> JobValue) {
        guard let spec = try? JobSpec(canonicalJSON: value(.spec).text ?? ""), let path = value(.path).text else {
            return nil
        }
        self.init(
            id: value(.id).number ?? 0, batch: batch, identity: value(.identity).text ?? "", path: path,
            facts: FileStamp(size: value(.size).number ?? -1, modified: value(.modified).number ?? 0),
            digest: value(.digest).text.flatMap { Checksum($0) }, validator: value(.validator).text,
            finalURL: value(.finalURL).text ?? "", sums: value(.sums).bytes.flatMap { PieceSumList(encoded: $0) },
            spec: spec)
    }
}
