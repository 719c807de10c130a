package import TransferCore
import TransferEngine
package import TransferWatch

/// A row of a watched folder's upload history.
package struct HistoryRow: Sendable {
    package let id: Int64
    /// The version as it was recorded.
    package let version: FileVersion
    package let state: HistoryState
    package let digest: Checksum?
    /// Whether the file was not found at its path.
    package var isGone = false
    /// The time at which the file was taken into the upload history, in milliseconds since 1970.
    package var staged: Int64 = 0
    /// The fingerprint of the bytes that were sent of the file (``SourceFile/sentFingerprint``), or were to be sent.
    package var fingerprint: UInt64?
    /// Whether the file's job was cancelled or its upload may have arrived. Such a file is sent again only by command.
    package var isGivenUp = false

    package init(
        id: Int64, version: FileVersion, state: HistoryState, digest: Checksum?, isGone: Bool = false,
        staged: Int64 = 0,
        fingerprint: UInt64? = nil, isGivenUp: Bool = false
    ) {
        self.id = id
        self.version = version
        self.state = state
        self.digest = digest
        self.isGone = isGone
        self.staged = staged
        self.fingerprint = fingerprint
        self.isGivenUp = isGivenUp
    }

    /// Returns whether any property of the file has changed since it was recorded, even only its name.
    ///
    /// The comparison uses the file system's time alone. That time may be behind the clock by a tick of the kernel
    /// (`CLOCK_REALTIME_COARSE`), or by the difference of a file server's clock.
    package func mayHaveChanged(_ now: FileStamp) -> Bool {
        // The row was recorded by a version that noted only the clock's time.
        if version.stamp.changed == nil, let changed = now.changed { return changed / 1_000_000 > staged }
        return version.stamp.onAnyDevice.likeness(to: now) != .same
    }
}
