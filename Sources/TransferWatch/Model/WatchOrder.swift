/// The order in which waiting files are offered.
///
/// Only a limited number of files waits at a time (``FolderWatcher/Options/capacity``), because a folder may hold too
/// many files to sort. The order applies to these files and to new arrivals.
public enum WatchOrder: String, Sendable, Hashable, CaseIterable {
    /// The earliest time of the last change comes first.
    case oldest
    case newest
    case smallest

    /// Returns whether the first precedes the second. Names decide between equals, so that the order is always the
    /// same.
    func puts(_ first: FileVersion, before second: FileVersion) -> Bool {
        switch self {
        case .oldest where first.modified != second.modified: first.modified < second.modified
        case .newest where first.modified != second.modified: first.modified > second.modified
        case .smallest where first.size != second.size: first.size < second.size
        // The comparison is by bytes, because canonically equivalent texts have no order.
        default: first.path.utf8.lexicographicallyPrecedes(second.path.utf8)
        }
    }
}
