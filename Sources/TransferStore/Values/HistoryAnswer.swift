/// The answer of the upload history to the question whether it knows an offered version.
package indirect enum HistoryAnswer: Sendable {
    case known(HistoryRow)
    /// The file is known, and was missed at its path.
    case returned(HistoryRow)
    /// The file is known, from a file system that had another number then.
    case onOtherDevice(HistoryRow)
    /// A file with this path, size and time had another inode. The folder may have been copied, or mounted anew from a
    /// file system without lasting inode numbers or with times in whole seconds.
    ///
    /// - Parameter otherwise: The answer if the file is not the recorded one.
    case renumbered(HistoryRow, otherwise: HistoryAnswer)
    /// A file with this path and size had another inode and another time. It is another version, or the same bytes
    /// written anew (`cp -r`, an editor that saves by a rename, a restored copy).
    ///
    /// - Parameter otherwise: The answer if the file is not the recorded one.
    case replaced(HistoryRow, otherwise: HistoryAnswer)
    /// The file is known with another path.
    case elsewhere(HistoryRow)
    /// The same file with the same size had another time when it was recorded.
    case otherTime(HistoryRow)
    case unknown
}
