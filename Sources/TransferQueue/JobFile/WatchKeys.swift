/// The keys of an entry of `"watch"`: its own ones, and those that it shares with the job of an upload.
enum WatchKey: RawRepresentable, Hashable, Sendable {
    enum Own: String, CaseIterable, Sendable {
        case folder, include, exclude, recursive, settle, then, keepFor, newOnly, order, checksum
    }

    case own(Own)
    case job(JobKey)

    init?(rawValue: String) {
        if let own = Own(rawValue: rawValue) {
            self = .own(own)
        } else if let key = JobKey(rawValue: rawValue), !Self.foreign.contains(key) {
            self = .job(key)
        } else {
            return nil
        }
    }

    var rawValue: String {
        switch self {
        case .own(let own): own.rawValue
        case .job(let key): key.rawValue
        }
    }

    /// What speaks of one file, or of a download. An entry's `checksum` is another one: whether to ask for it.
    private static let foreign: Set<JobKey> = [
        .id, .download, .upload, .checksum, .checksums, .pieces, .needs, .body, .segments, .ifExists, .adopt, .strict,
        .remoteTime,
    ]

    static let table = KeyTable(
        Own.allCases.map(WatchKey.own) + JobKey.allCases.filter { !foreign.contains($0) }.map(WatchKey.job))
}

/// Of a `then` that is no word.
enum ThenKey: String, CaseIterable {
    case move

    static let table = KeyTable(allCases)
}
