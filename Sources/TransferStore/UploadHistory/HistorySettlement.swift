/// The result for a confirmed file that was to be moved or deleted.
package struct HistorySettlement: Sendable {
    package enum Kind: Sendable {
        /// The file is no longer in the folder.
        case done
        /// No file of this version is at its path: the move or deletion waits until there is one again.
        case notThere
        case kept
        /// - Parameter changed: The time of a change that this program made itself.
        case again(at: Int64, changed: Int64? = nil)
    }

    package let row: Int64
    package let kind: Kind

    package init(row: Int64, kind: Kind) {
        self.row = row
        self.kind = kind
    }
}
