import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore
package import TransferWatch

/// Finds out about versions what the ledger alone can't tell: it has numbers, and what was sent were bytes. A file system
/// gives a new file the inode of one that was removed, and numbers all files anew when it's copied or mounted again.
///
/// Blocks: for workers.
package struct VersionInquiry {
    package let plan: WatchPlan
    /// Then no more is read, and what was found isn't needed.
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

    /// Files of up to so many bytes are read when they are found; longer ones when they are about to be sent
    /// (`OpenedSource.mostRead`).
    package static let smallSize: Int64 = 1 << 20

    /// The bytes of a version have to be known before any of it is sent, and also where none ever is: a copy of it, or
    /// its new time, isn't another one.
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
            // No byte of those was read, and nothing is to be.
            if row.state == .old {
                return plan.spec.isNewOnly ? .renumbered(row: row.id) : finding(file, otherwise, places)
            }
            // Only its bytes tell that it's the one that was uploaded.
            switch compare(file, row) {
            case .same: return .renumbered(row: row.id)
            case .outdated: return .outdated
            // The file isn't to be sent unasked, and nobody can say that this isn't it.
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

    /// The file's path and numbers are those of the row; something may have given it other bytes and its former time,
    /// as editors of tags do, or it's another file with the inode of the former one.
    ///
    /// - Parameter known: Of one that is the row's.
    private func unchanged(
        _ file: FileVersion, _ row: HistoryRow, _ places: FolderPlaces, else known: HistoryOffer.Finding
    ) -> HistoryOffer.Finding {
        guard let seen = places.file(file.path), row.mayHaveChanged(seen.stamp) else { return known }
        switch row.state {
        // A file that waits is looked at when it's opened.
        case .open: return row.isGone ? known : .later
        // A file that failed is sent as it is by then; one that is left alone stays so.
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

    /// The file's numbers are those of a row with another path.
    private func elsewhere(_ file: FileVersion, _ row: HistoryRow, _ places: FolderPlaces) -> HistoryOffer.Finding {
        if row.version.isSame(as: places.file(row.version.path)?.stamp) {
            // A hard link; or, on another file system inside, a file that has the same number by chance.
            let seen = places.file(file.path)
            let other = places.file(row.version.path)
            if let seen, let other, seen.stamp.device != other.stamp.device { return new(file, nil) }
            return .otherName(of: row.version.path)
        }
        // A file that wasn't sent yet is sent by its new name, whatever it is.
        guard row.state == .confirmed || row.state == .leftAlone else { return .moved }
        switch compare(file, row) {
        case .same where isMadeSince(row, file, places): return .another(row: row.id, digest: newDigest(file))
        case .same: return .moved
        case .other(let digest): return .another(row: row.id, digest: digest ?? newDigest(file))
        case .outdated: return .outdated
        // The file was to be left alone, and nobody can say that this isn't it.
        case .unknown, .unreadable: break
        }
        return row.state == .leftAlone ? .moved : .another(row: row.id, digest: newDigest(file))
    }

    /// Whether the file under another name was made after the row's was seen: the same bytes in a new file, which has the
    /// inode of one that isn't there any more. Both times are by the clock of their file system.
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
        // The upload fails when the file is opened, which is told.
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

    /// The comparison of a file's bytes with those that a row stands for.
    private enum Comparison {
        case same
        case other(Checksum?)
        /// Nothing is known of the row's.
        case unknown(Checksum?)
        /// Another version is there, or nothing.
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
