package import TransferCore
package import TransferWatch

/// The files that were recently moved out of a watched folder, with counts, to detect files that move in a circle.
///
/// ``FolderConflict`` finds circles among the folders of one process. Another process or program may also move files
/// back, and the same bytes would be uploaded endlessly. A file that a user puts back once or twice is uploaded again.
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

    /// The most moves of one version within ``span``, after which it stays.
    package static let most = 3
    /// The time without a move after which a version has come to rest.
    package static let span = Duration.seconds(3600)
    /// The number of remembered versions. Beyond it, those that were moved longest ago are forgotten.
    private static let capacity = 4096

    private var entries: [Key: Entry] = [:]

    package init() {}

    package mutating func moved(_ version: FileVersion, at now: MonotonicTime) {
        let key = Key(version)
        let before = isRecent(entries[key], now) ? entries[key]?.count ?? 0 : 0
        entries[key] = Entry(count: before + 1, last: now)
        if entries.count > Self.capacity { shrink() }
    }

    /// Returns whether the version has come back as often as it may.
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

    /// Returns the error with which such a file stays.
    package static func refusal(_ target: String) -> TransferError {
        TransferError(
            .invalidRequest,
            "it came back each time after it was moved to \(target): another process moves it in a circle, such as "
                + "one that watches that folder; it stays here, so that it is not uploaded without end")
    }
}
