import TransferCore

/// A job that was complete before, with what its record says of the file.
struct CompletedJob: Sendable {
    let id: Int64
    let batch: Int64
    let identity: String
    let isUpload: Bool
    let path: String
    let facts: FileStamp
    let digest: Checksum?
    let validator: String?
    let finalURL: String
    let status: Int
    let attempts: Int
    let isLengthUnproven: Bool
    /// The job's present `strict`; read only for jobs whose length is unproven.
    let isStrict: Bool
}
