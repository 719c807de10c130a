package import TransferCore
package import TransferWatch

/// A version of a file in an upload history, with all columns that the rules read or change.
package struct UploadHistoryEntry: Sendable, Hashable {
    package let id: Int64
    /// The version as it was recorded.
    package var version: FileVersion
    /// The URL to which the file is uploaded, redacted.
    package var url: String
    package var state: HistoryState
    /// The job of a version that is not confirmed yet.
    package var job: Int64?
    /// The digest as it is stored. It is empty if it could not be computed while the file was this version.
    package var digestText: String?
    /// The fingerprint of the file's bytes (``SourceFile/fingerprint(isStopped:)``).
    package var fingerprint: UInt64?
    /// The time at which the version was staged, in milliseconds since 1970, as all times here.
    package var staged: Int64
    package var confirmed: Int64?
    /// The time at which the file is to be moved or deleted.
    package var due: Int64?
    /// The time since which the file has been missing at its path.
    package var gone: Int64?
    /// Whether another file may replace this upload, because the file has another name now.
    package var isRenamed = false
    package var failures = 0

    package init(
        id: Int64, version: FileVersion, url: String, state: HistoryState, job: Int64? = nil, digestText: String? = nil,
        fingerprint: UInt64? = nil, staged: Int64 = 0, confirmed: Int64? = nil, due: Int64? = nil, gone: Int64? = nil,
        isRenamed: Bool = false, failures: Int = 0
    ) {
        self.id = id
        self.version = version
        self.url = url
        self.state = state
        self.job = job
        self.digestText = digestText
        self.fingerprint = fingerprint
        self.staged = staged
        self.confirmed = confirmed
        self.due = due
        self.gone = gone
        self.isRenamed = isRenamed
        self.failures = failures
    }

    package var digest: Checksum? {
        get { digestText.flatMap { Checksum($0) } }
        set { digestText = newValue?.description }
    }

    /// Whether a confirmed file waits to be moved or deleted.
    package var isKept: Bool { due != nil && gone == nil }
}
