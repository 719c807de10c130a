/// The ledger's answer for a version that is offered.
package indirect enum LedgerLook: Sendable {
    case known(LedgerRow)
    /// The file is known, and was missed at its path.
    case returned(LedgerRow)
    /// The file is known, from a file system that had another number then.
    case onOtherDevice(LedgerRow)
    /// A file with this path, size and time had another inode: the folder may have been copied, or mounted anew where files
    /// have no numbers of their own, or whole seconds only.
    ///
    /// - Parameter otherwise: If it's not that one.
    case renumbered(LedgerRow, otherwise: LedgerLook)
    /// A file with this path and size had another inode and another time: another version, or the same bytes written anew
    /// (`cp -r`, an editor that saves by a rename, a restored copy).
    ///
    /// - Parameter otherwise: If it's not that one.
    case replaced(LedgerRow, otherwise: LedgerLook)
    /// The file is known with another path.
    case elsewhere(LedgerRow)
    /// The same file with the same size had another time when it was recorded.
    case otherTime(LedgerRow)
    case unknown
}
