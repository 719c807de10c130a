/// Failed files of a watched folder that are tried again.
package struct WokenFiles: Sendable {
    package var jobs: [Int64] = []
    /// The time until the next of the other failed files is tried again automatically; `nil` when none is left.
    package var next: Duration?
    package var changes = HistoryChanges()

    package init() {}
}
