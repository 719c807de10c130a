/// The result for a confirmed file that was to be moved or deleted.
struct LedgerSettlement: Sendable {
    enum Kind: Sendable {
        /// The file isn't in the folder any more.
        case done
        /// No file of this version is at its path: moving or deleting it waits until it's there again.
        case notThere
        case kept
        /// - Parameter changed: The time of a change that was ours.
        case again(at: Int64, changed: Int64? = nil)
    }

    let row: Int64
    let kind: Kind
}
