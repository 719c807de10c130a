/// Failed files of a watched folder that are tried again.
struct WokenFiles: Sendable {
    var jobs: [Int64] = []
    /// Until the next of those that are left comes back by itself; `nil` when none is left.
    var next: Duration?
    var changes = LedgerChanges()
}
