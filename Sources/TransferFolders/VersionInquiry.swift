import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore
package import TransferWatch

/// The examination of versions by their bytes, which the upload history alone cannot identify by numbers. A file system
/// reuses inodes of removed files, and numbers all files anew when it is copied or mounted again.
///
/// Blocks, so it belongs on a worker thread.
package struct VersionInquiry {
    package let plan: WatchPlan
    /// A function that returns whether to stop; no more files are read then, and the findings are not needed.
    package let isStopped: @Sendable () -> Bool

    package init(_ plan: WatchPlan, isStopped: @escaping @Sendable () -> Bool = { false }) {
        self.plan = plan
        self.isStopped = isStopped
    }

    package func inquire(_ files: [FileVersion], _ looks: [HistoryAnswer]) -> [HistoryOffer] {
        let places = FolderPlaces(plan.root)
        return zip(files, looks).map { file, look in
            var offer = HistoryOffer(version: file, finding: finding(file, look, places))
            offer.fingerprint = fingerprint(offer)
            return offer
        }
    }

    /// The size up to which files are read when they are found, in bytes. Larger ones are read when they are about to
    /// be sent (`OpenedSource.mostRead`).
    package static let smallSize: Int64 = 1 << 20

    /// Returns the fingerprint of a new version, which is needed before its bytes are sent, or even if they never are.
    /// The fingerprint identifies a copy or a touched file as the same version.
    private func fingerprint(_ offer: HistoryOffer) -> UInt64? {
        let file = offer.version
        guard offer.makesVersion, !plan.needsDigest, file.size <= Self.smallSize else { return nil }
        return VersionDigest.fingerprint(file, root: plan.root, isStopped: isStopped)
    }

    private func finding(_ file: FileVersion, _ look: HistoryAnswer, _ places: FolderPlaces) -> HistoryOffer.Finding {
        switch look {
        case .known(let row): return unchanged(file, row, places, else: .nothing)
        case .returned(let row): return unchanged(file, row, places, else: .returned(row: row.id))
        case .onOtherDevice(let row): return unchanged(file, row, places, else: .renumbered(row: row.id))
        case .renumbered(let row, let otherwise):
            // The bytes of old files were never read, and are not read now.
            if row.state == .old {
                return plan.spec.isNewOnly ? .renumbered(row: row.id) : finding(file, otherwise, places)
            }
            // Only the bytes show whether this is the uploaded file.
            switch compare(file, row) {
            case .same: return .renumbered(row: row.id)
            case .outdated: return .outdated
            // The file must not be sent without a request, and may be this one.
            case .unknown where row.isGivenUp || row.state == .leftAlone: return .renumbered(row: row.id)
            case .other, .unknown, .unreadable: return finding(file, otherwise, places)
            }
        case .replaced(let row, let otherwise):
            switch compare(file, row) {
            case .same: return .renumbered(row: row.id)
            case .outdated: return .outdated
            case .other, .unknown, .unreadable: return finding(file, otherwise, places)
            }
        case .elsewhere(let row): return elsewhere(file, row, places)
        case .otherTime(let row):
            switch compare(file, row) {
            case .same where isMadeSince(row, file, places): return .another(row: row.id, digest: newDigest(file))
            case .same: return .touched(row: row.id)
            case .other(let digest): return new(file, digest)
            case .outdated: return .outdated
            case .unknown(let digest): return new(file, digest)
            case .unreadable: return .new(digest: nil)
            }
        case .unknown: return new(file, nil)
        }
    }

    /// Returns the finding for a file with the path and numbers of a row. Its bytes may have changed while its time was
    /// restored, as tag editors do, or it may be a new file with the same inode.
    ///
    /// - Parameter known: The finding if the file is that of the row.
    private func unchanged(
        _ file: FileVersion, _ row: HistoryRow, _ places: FolderPlaces, else known: HistoryOffer.Finding
    ) -> HistoryOffer.Finding {
        guard let seen = places.file(file.path), row.mayHaveChanged(seen.stamp) else { return known }
        switch row.state {
        // A waiting file is checked when it is opened.
        case .open: return row.isGone ? known : .later
        // A failed file is sent in its present state; an ignored one stays ignored.
        case .failed where row.digest == nil, .leftAlone, .old: return known
        case .confirmed, .failed: break
        }
        switch compare(file, row) {
        case .same:
            if case .nothing = known { return .looked(row: row.id, changed: seen.stamp.changed) }
            return known
        case .other(let digest): return .rewritten(row: row.id, digest: digest)
        case .outdated: return .outdated
        case .unknown, .unreadable: return known
        }
    }

    /// Returns the finding for a file with the numbers of a row with another path.
    private func elsewhere(_ file: FileVersion, _ row: HistoryRow, _ places: FolderPlaces) -> HistoryOffer.Finding {
        if row.version.isSame(as: places.file(row.version.path)?.stamp) {
            // The file is a hard link, or has the same number by chance on another file system within the folder.
            let seen = places.file(file.path)
            let other = places.file(row.version.path)
            if let seen, let other, seen.stamp.device != other.stamp.device { return new(file, nil) }
            return .otherName(of: row.version.path)
        }
        // A file that was not sent yet is sent by its new name, whatever it contains.
        guard row.state == .confirmed || row.state == .leftAlone else { return .moved }
        switch compare(file, row) {
        case .same where isMadeSince(row, file, places): return .another(row: row.id, digest: newDigest(file))
        case .same: return .moved
        case .other(let digest): return .another(row: row.id, digest: digest ?? newDigest(file))
        case .outdated: return .outdated
        // The file had to be left alone, and may be this one.
        case .unknown, .unreadable: break
        }
        return row.state == .leftAlone ? .moved : .another(row: row.id, digest: newDigest(file))
    }

    /// Returns whether the file was made after the row's file was seen. It is then a new file with the same bytes and a
    /// reused inode. Both times are by the clock of their file system.
    private func isMadeSince(_ row: HistoryRow, _ file: FileVersion, _ places: FolderPlaces) -> Bool {
        guard PathKey(row.version.path) != PathKey(file.path), let seen = row.version.stamp.changed,
            let born = places.born(file.path)
        else { return false }
        return born > seen
    }

    private func new(_ file: FileVersion, _ digest: Checksum?) -> HistoryOffer.Finding {
        if let digest { return .new(digest: digest) }
        guard plan.needsDigest else { return .new(digest: nil) }
        switch VersionDigest.compute(file, root: plan.root, isStopped: isStopped) {
        case .digest(let digest): return .new(digest: digest)
        case .otherVersion: return .outdated
        // The upload fails when the file is opened, which is reported.
        case .unreadable: return .new(digest: nil)
        }
    }

    private func newDigest(_ file: FileVersion) -> Checksum? {
        guard plan.needsDigest, case .digest(let digest) = VersionDigest.compute(file, root: plan.root) else {
            return nil
        }
        return digest
    }

    // MARK: Bytes

    /// The result of comparing a file's bytes with those of a row.
    private enum Comparison {
        case same
        case other(Checksum?)
        /// The bytes of the row are unknown.
        case unknown(Checksum?)
        /// The path has another version, or no file.
        case outdated
        case unreadable
    }

    private func compare(_ file: FileVersion, _ row: HistoryRow) -> Comparison {
        let known = row.digest.flatMap { $0.algorithm == .sha256 ? $0 : nil }
        guard known != nil || plan.needsDigest else { return compareFingerprint(file, row, nil) }
        switch VersionDigest.compute(file, root: plan.root, isStopped: isStopped) {
        case .digest(let digest):
            guard let known else { return compareFingerprint(file, row, digest) }
            return digest == known ? .same : .other(digest)
        case .otherVersion: return .outdated
        case .unreadable: return .unreadable
        }
    }

    private func compareFingerprint(_ file: FileVersion, _ row: HistoryRow, _ digest: Checksum?) -> Comparison {
        guard let sent = row.fingerprint else { return .unknown(digest) }
        return switch VersionDigest.match(sent, file, root: plan.root, isStopped: isStopped) {
        case .same: .same
        case .other: .other(digest)
        case .otherVersion: .outdated
        case .unreadable: .unreadable
        }
    }
}
