import TransferCore
package import TransferWatch

extension HistoryAnswer {
    /// Returns what rows say of a version.
    ///
    /// - Parameters:
    ///   - sameFile: The rows that have its inode and its size, the newest first.
    ///   - sameName: The rows that have its path and its size, and another inode, the newest first.
    package static func of(_ version: FileVersion, sameFile: [HistoryRow], sameName: [HistoryRow]) -> HistoryAnswer {
        var look = HistoryAnswer.unknown
        for row in sameFile where row.state != .old {
            let isOnDevice = row.version.stamp.device == version.stamp.device
            switch row.version.stamp.onAnyDevice.likeness(to: version.stamp) {
            case .same, .touched:
                if PathKey(row.version.path) == PathKey(version.path) {
                    guard isOnDevice else { return .onOtherDevice(row) }
                    return row.isGone ? .returned(row) : .known(row)
                }
                look = .elsewhere(row)
            case .retimed:
                if case .unknown = look, isOnDevice { look = .otherTime(row) }
            case .other: break
            }
        }
        if let row = sameName.first(where: { FileStamp.mayBeSameTime($0.version.modified, version.modified) }) {
            return .renumbered(row, otherwise: look)
        }
        return sameName.first { $0.state != .old }.map { .replaced($0, otherwise: look) } ?? look
    }
}

extension UploadHistoryGraph {
    /// Returns what the graph says of a version. The graph was read for the version's name and numbers.
    package func look(_ version: FileVersion) -> HistoryAnswer {
        let known = entries.values.filter { $0.version.size == version.size }.sorted { $0.id > $1.id }
        return HistoryAnswer.of(
            version,
            sameFile: known.filter { $0.version.inodeBits == version.inodeBits }.map(row),
            sameName: known.filter {
                $0.version.inodeBits != version.inodeBits && PathKey($0.version.path) == PathKey(version.path)
            }.map(row))
    }

    private func row(_ entry: UploadHistoryEntry) -> HistoryRow {
        HistoryRow(
            id: entry.id, version: entry.version, state: entry.state, digest: entry.digest, isGone: entry.gone != nil,
            staged: entry.staged, fingerprint: entry.fingerprint,
            isGivenUp: entry.job.flatMap { jobs[$0] }?.isLeftAlone ?? false)
    }
}
