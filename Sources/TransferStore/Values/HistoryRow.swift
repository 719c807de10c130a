package import TransferCore
import TransferEngine
package import TransferWatch

/// A watched folder's rows, as they are read.
package struct HistoryRow: Sendable {
    package let id: Int64
    /// As it was recorded.
    package let version: FileVersion
    package let state: HistoryState
    package let digest: Checksum?
    /// Whether the file wasn't found at its path.
    package var isGone = false
    /// The time at which it was taken into the ledger, in milliseconds since 1970.
    package var staged: Int64 = 0
    /// The fingerprint of the bytes that were sent of it (``SourceFile/sentFingerprint``), or were to be sent.
    package var fingerprint: UInt64?
    /// The file's job was cancelled, or may have arrived: the file isn't sent unasked.
    package var isGivenUp = false

    package init(
        id: Int64, version: FileVersion, state: HistoryState, digest: Checksum?, isGone: Bool = false, staged: Int64 = 0,
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

    /// Whether anything of the file has changed since it was recorded, if only its name.
    ///
    /// The look compares by the file system's time alone, which may be behind the clock: by a tick of the kernel
    /// (`CLOCK_REALTIME_COARSE`), or by as much as a server's clock is.
    package func mayHaveChanged(_ now: FileStamp) -> Bool {
        // Recorded by a program that noted the clock's time only.
        if version.stamp.changed == nil, let changed = now.changed { return changed / 1_000_000 > staged }
        return version.stamp.onAnyDevice.likeness(to: now) != .same
    }
}
