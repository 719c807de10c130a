package import TransferCore
package import TransferWatch

/// The files that were moved out of a watched folder lately, and how often: one that comes back each time is in a circle.
///
/// ``FolderConflict`` finds circles of the folders that one process watches. Another process, or another program, may move
/// files back, too, and the same bytes would be uploaded without end. A person who puts a file back once or twice has it
/// uploaded again.
package struct MovedFiles: Sendable {
    private struct Key: Hashable {
        let path: PathKey
        let size: Int64
        let modified: Int64

        init(_ version: FileVersion) {
            path = PathKey(version.path)
            size = version.stamp.size
            modified = version.stamp.modified
        }
    }

    private struct Entry {
        var count: Int
        var last: MonotonicTime
    }

    /// The moves of one version within ``span``, after which it stays.
    package static let most = 3
    /// A version that was not moved for so long has come to rest.
    package static let span = Duration.seconds(3600)
    /// The versions that are remembered: those that were moved longest ago are forgotten.
    private static let capacity = 4096

    private var entries: [Key: Entry] = [:]

    package init() {}

    package mutating func moved(_ version: FileVersion, at now: MonotonicTime) {
        let key = Key(version)
        let before = isRecent(entries[key], now) ? entries[key]?.count ?? 0 : 0
        entries[key] = Entry(count: before + 1, last: now)
        if entries.count > Self.capacity { shrink() }
    }

    /// Whether the version has come back as often as it may.
    package func isCircling(_ version: FileVersion, at now: MonotonicTime) -> Bool {
        guard let entry = entries[Key(version)], isRecent(entry, now) else { return false }
        return entry.count >= Self.most
    }

    private func isRecent(_ entry: Entry?, _ now: MonotonicTime) -> Bool {
        entry.map { now - $0.last < Self.span } ?? false
    }

    private mutating func shrink() {
        let times = entries.values.map(\.last).sorted()
        let oldest = times[times.count / 2]
        entries = entries.filter { $0.value.last > oldest }
    }

    /// The reason for which such a file stays.
    package static func refusal(_ target: String) -> TransferError {
        TransferError(
            .invalidRequest,
            "it came back each time after it was moved to \(target): another process moves it in a circle, such as "
                + "one that watches that folder; it stays here, so that it isn't uploaded without end")
    }
}
