/// A key of an entry of `"watch"`: one of its own, or one that it shares with the job of an upload. An entry's `checksum` is
/// another one than a job's: whether to ask for it.
package enum WatchKey: Sendable {
    package enum Own: String, CaseIterable, Sendable {
        case folder, include, exclude, recursive, settle, then, keepFor, newOnly, order, checksum
    }

    case own(Own)
    case job(JobField)

    package var name: String {
        switch self {
        case .own(let own): own.rawValue
        case .job(let field): field.key
        }
    }
}

/// Of a `then` that is no word.
package enum ThenKey: String, CaseIterable {
    case move

    package static let table = KeyTable(allCases)
}
