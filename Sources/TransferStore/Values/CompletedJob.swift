package import TransferCore
package import TransferJobs

/// A job that was complete before, with the recorded facts about its file.
package struct CompletedJob: Sendable {
    package let id: Int64
    package let batch: Int64
    package let identity: String
    package let isUpload: Bool
    package let path: String
    package let facts: FileStamp
    package let digest: Checksum?
    /// The sums of the pieces of a download without a digest.
    package let sums: PieceSumList?
    package let validator: String?
    package let finalURL: String
    package let status: Int
    package let attempts: Int
    package let isLengthUnproven: Bool
    package let route: JobRoute
    /// The job's present `strict`, which is read only for jobs whose length is unproven.
    package let isStrict: Bool

    package init(
        id: Int64, batch: Int64, identity: String, isUpload: Bool, path: String, facts: FileStamp, digest: Checksum?,
        sums: PieceSumList?, validator: String?, finalURL: String, status: Int, attempts: Int, isLengthUnproven: Bool,
        route: JobRoute, isStrict: Bool
    ) {
        self.id = id
        self.batch = batch
        self.identity = identity
        self.isUpload = isUpload
        self.path = path
        self.facts = facts
        self.digest = digest
        self.sums = sums
        self.validator = validator
        self.finalURL = finalURL
        self.status = status
        self.attempts = attempts
        self.isLengthUnproven = isLengthUnproven
        self.route = route
        self.isStrict = isStrict
    }
}

extension CompletedJob {
    /// The columns that ``init(batch:_:)`` reads, in the order of a row. The sums are needed only without a digest.
    package static let columns: [JobColumn] = [
        .id, .identity, .isUpload, .path, .size, .modified, .digest, .validator, .finalURL, .status, .attempts,
        .lengthUnproven, .spec, .sums,
    ]

    /// Creates a job from its row.
    ///
    /// - Parameter value: A function that returns the row's value of a column.
    package init(batch: Int64, _ value: (JobColumn) -> JobValue) {
        let route = JobRoute(canonicalJSON: value(.spec).text ?? "")
        let isLengthUnproven = value(.lengthUnproven).isSet
        // The record of an early version may have no URL.
        let finalURL = value(.finalURL).text ?? ""
        self.init(
            id: value(.id).number ?? 0, batch: batch, identity: value(.identity).text ?? "",
            isUpload: value(.isUpload).isSet, path: value(.path).text ?? "",
            facts: FileStamp(size: value(.size).number ?? -1, modified: value(.modified).number ?? 0),
            digest: value(.digest).text.flatMap { Checksum($0) },
            sums: value(.sums).bytes.flatMap { PieceSumList(encoded: $0) }, validator: value(.validator).text,
            finalURL: finalURL.isEmpty ? route.url : finalURL, status: Int(value(.status).number ?? 0),
            attempts: Int(value(.attempts).number ?? 0), isLengthUnproven: isLengthUnproven, route: route,
            isStrict: isLengthUnproven && route.job?.isStrict ?? false)
    }
}
