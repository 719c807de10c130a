package import TransferCore
package import TransferWatch

/// A version of a file that is offered to the upload history, with the facts found out about it beforehand.
package struct HistoryOffer: Sendable {
    package enum Finding: Sendable {
        /// Nothing is to be done: the version is known, by this name or another.
        case nothing
        /// The path has another version or no file now, and is examined again.
        case outdated
        case new(digest: Checksum?)
        /// The file was missed, and is at its path again.
        case returned(row: Int64)
        /// No file of this version is at the path that was recorded.
        case moved
        /// The file has the bytes of this row, with another time.
        case touched(row: Int64)
        /// The file still had the bytes of this row when they were read again; `changed` is the time of its last
        /// change.
        case looked(row: Int64, changed: Int64?)
        /// A property of the file changed while its upload is under way; the file is examined again after the upload.
        case later
        /// The file has other bytes than this row's, with the same size and time.
        case rewritten(row: Int64, digest: Checksum?)
        /// The version is known, on a file system that has another number now or has given its files other inodes.
        case renumbered(row: Int64)
        /// The name is another one of the file at this path.
        case otherName(of: String)
        /// The file is new, with the inode, the size and the time of this row's file, which no longer exists.
        case another(row: Int64, digest: Checksum?)
    }

    package let version: FileVersion
    package let finding: Finding
    /// The fingerprint of the file's bytes, where the version is new and they were read. Bytes that are sent, and bytes
    /// that are found later, are compared with it.
    package var fingerprint: UInt64?

    package init(version: FileVersion, finding: Finding, fingerprint: UInt64? = nil) {
        self.version = version
        self.finding = finding
        self.fingerprint = fingerprint
    }

    /// Whether the offer changes nothing in the upload history.
    package var isNothing: Bool {
        switch finding {
        case .nothing, .outdated, .later, .otherName: true
        default: false
        }
    }

    /// Whether a version is recorded that was not known.
    package var makesVersion: Bool {
        switch finding {
        case .new, .rewritten, .another: true
        default: false
        }
    }

    package var isOutdated: Bool { if case .outdated = finding { true } else { false } }
    package var isForLater: Bool { if case .later = finding { true } else { false } }
}
