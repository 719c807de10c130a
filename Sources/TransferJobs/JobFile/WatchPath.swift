import TransferCore
import TransferWatch

/// The way that files take through watched folders that move them on.
package enum WatchPath {
    package struct Entry: Sendable {
        package let spec: WatchSpec
        package let line: Int
    }

    /// The entries by which a file of the last one comes back to it.
    ///
    /// One folder may well move to another: what is uploaded to one place first and then to another goes that way. Where
    /// entries of a circle take files of other names, nobody knows whether one goes round: that is left to them.
    package static func circle(from entry: Entry, _ entries: [Entry]) -> [Entry]? {
        var way = [entry]
        while case .move(let destination)? = way.last?.spec.then,
            let next = entries.first(where: { $0.spec.watches(folder: destination) })
        {
            if next.spec.folder == entry.spec.folder {
                return Set(way.map(\.spec.rules.include).filter { !$0.isEmpty }).count > 1 ? nil : way
            }
            // A circle that this entry only leads to has been told of.
            guard !way.contains(where: { $0.spec.folder == next.spec.folder }) else { return nil }
            way.append(next)
        }
        return nil
    }
}
