package import TransferCore
package import TransferWatch

/// A version that is offered, with what was found out about it beforehand.
package struct HistoryOffer: Sendable {
    package enum Finding: Sendable {
        /// Nothing is to be done: it's known, by this name or another.
        case nothing
        /// Another version is at its path, or nothing: whatever it is, it's looked at again.
        case outdated
        case new(digest: Checksum?)
        /// The file was missed, and is at its path again.
        case returned(row: Int64)
        /// No file of this version is at the path that was recorded.
        case moved
        /// This row's bytes, with another time.
        case touched(row: Int64)
        /// This row's bytes, as they are looked at again, with the time of the file's last change.
        case looked(row: Int64, changed: Int64?)
        /// Something of the file changed while its upload is under way: it's looked at again after that.
        case later
        /// Other bytes than this row's, with the same size and time.
        case rewritten(row: Int64, digest: Checksum?)
        /// Known, on a file system that has another number now, or that has given its files other inodes.
        case renumbered(row: Int64)
        /// Another name of the file at this path.
        case otherName(of: String)
        /// A new file: it has the inode, the size and the time of this row's, which isn't anywhere any more.
        case another(row: Int64, digest: Checksum?)
    }

    package let version: FileVersion
    package let finding: Finding
    /// The fingerprint of the file's bytes, where the version is new and they were read: bytes that are sent, and those
    /// that are found later, are compared with it.
    package var fingerprint: UInt64?

    package init(version: FileVersion, finding: Finding, fingerprint: UInt64? = nil) {
        self.version = version
        self.finding = finding
        self.fingerprint = fingerprint
    }

    /// Whether the ledger learns nothing by it.
    package var isNothing: Bool {
        switch finding {
        case .nothing, .outdated, .later, .otherName: true
        default: false
        }
    }

    /// Whether a version is recorded that wasn't known.
    package var makesVersion: Bool {
        switch finding {
        case .new, .rewritten, .another: true
        default: false
        }
    }

    package var isOutdated: Bool { if case .outdated = finding { true } else { false } }
    package var isForLater: Bool { if case .later = finding { true } else { false } }
}
