/// The order in which waiting files go.
///
/// Only a bounded number of files waits at a time (``FolderWatcher/Options/capacity``): the order is among those and
/// what comes in meanwhile, as a folder may hold more files than anybody should sort.
public enum WatchOrder: String, Sendable, Hashable, CaseIterable {
    /// By the time of the last change.
    case oldest
    case newest
    case smallest

    /// Whether the first goes before the second; names decide between equals, so that the order is always the same.
    func puts(_ first: FileVersion, before second: FileVersion) -> Bool {
        switch self {
        case .oldest where first.modified != second.modified: first.modified < second.modified
        case .newest where first.modified != second.modified: first.modified > second.modified
        case .smallest where first.size != second.size: first.size < second.size
        // By bytes: among equivalent texts none is the first.
        default: first.path.utf8.lexicographicallyPrecedes(second.path.utf8)
        }
    }
}
