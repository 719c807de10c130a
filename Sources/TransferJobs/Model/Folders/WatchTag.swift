/// The tag of the processes that watch a folder of a queue that machines share. They alone take its jobs that another
/// process couldn't do.
package enum WatchTag {
    package static let prefix = "watch-"

    /// - Parameter folder: The folder's number in the upload history.
    package static func of(folder: Int64) -> String { "\(prefix)\(folder)" }
}
