/// The state of a version of a file. The number is what the database holds.
package enum HistoryState: Int, Sendable {
    /// The version's job hasn't ended; or was cancelled, and stays so.
    case open = 0
    /// The server has it.
    case confirmed = 1
    /// The version's job failed for good, and is tried again at its time, after another one's success, or when somebody
    /// says so.
    case failed = 2
    /// The version's job was cancelled, or may have arrived, and was forgotten: only a change of the file makes
    /// another.
    case leftAlone = 3
    /// The file was in the folder before that was watched, for new files only: neither it nor a copy of it is uploaded.
    /// A change of anything of it, its name too, makes a new file.
    case old = 4
}
