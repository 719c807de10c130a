/// A key of an entry of `"watch"`: one of its own, or one shared with upload jobs. An entry's `checksum` differs from a
/// job's: it says whether to request one.
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

/// The keys of a `then` that is an object.
package enum ThenKey: String, CaseIterable {
    case move

    package static let table = KeyTable(allCases)
}
