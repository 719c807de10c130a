/// The tag of the processes that watch a folder of a shared queue. They alone take those of its jobs that other
/// processes cannot do.
package enum WatchTag {
    package static let prefix = "watch-"

    /// Returns the tag of a folder.
    ///
    /// - Parameter folder: The folder's number in the upload history.
    package static func of(folder: Int64) -> String { "\(prefix)\(folder)" }
}
