/// Failed files of a watched folder that are tried again.
package struct WokenFiles: Sendable {
    package var jobs: [Int64] = []
    /// Until the next of those that are left comes back by itself; `nil` when none is left.
    package var next: Duration?
    package var changes = HistoryChanges()

    package init() {}
}
