import TransferCore
import TransferWatch

/// The path of files through watched folders whose `then` moves them on.
package enum WatchPath {
    package struct Entry: Sendable {
        package let spec: WatchSpec
        package let line: Int
    }

    /// Returns the entries through which a file of the last entry returns to it; `nil` for no circle.
    ///
    /// One folder may move to another, since files may be uploaded to one place first and then to a second. A circle of
    /// entries that accept different names may be intended, so it is allowed.
    package static func circle(from entry: Entry, _ entries: [Entry]) -> [Entry]? {
        var way = [entry]
        while case .move(let destination)? = way.last?.spec.then,
            let next = entries.first(where: { $0.spec.watches(folder: destination) })
        {
            if next.spec.folder == entry.spec.folder {
                return Set(way.map(\.spec.rules.include).filter { !$0.isEmpty }).count > 1 ? nil : way
            }
            // A circle to which this entry only leads has been reported before.
            guard !way.contains(where: { $0.spec.folder == next.spec.folder }) else { return nil }
            way.append(next)
        }
        return nil
    }
}
