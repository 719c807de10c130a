package import TransferCore
package import TransferWatch

/// A version of a file as an upload history has it: all columns that its rules read or change.
package struct UploadHistoryEntry: Sendable, Hashable {
    package let id: Int64
    /// As it was recorded.
    package var version: FileVersion
    /// The place that it's uploaded to, redacted.
    package var url: String
    package var state: HistoryState
    /// The job of a version that isn't confirmed.
    package var job: Int64?
    /// The digest as it's stored; empty where it couldn't be computed while the file was this version.
    package var digestText: String?
    /// The fingerprint of its bytes (``SourceFile/fingerprint(isStopped:)``).
    package var fingerprint: UInt64?
    /// Times are milliseconds since 1970.
    package var staged: Int64
    package var confirmed: Int64?
    /// The time at which the file is to be moved or deleted.
    package var due: Int64?
    /// The time since which the file isn't at its path.
    package var gone: Int64?
    /// Another file may take the place of its upload, as it has another name now.
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

    /// Whether a confirmed file waits for what is to be done with it.
    package var isKept: Bool { due != nil && gone == nil }
}
