/// The state of a version of a file. The number is the stored value.
package enum HistoryState: Int, Sendable {
    /// The version's job has not ended, or was cancelled and stays so.
    case open = 0
    /// The server has the version.
    case confirmed = 1
    /// The version's job failed for good. It is tried again at its time, after the success of another job, or by
    /// command.
    case failed = 2
    /// The version's job was cancelled or may have arrived, and was forgotten. Only a change of the file makes another
    /// job.
    case leftAlone = 3
    /// The file was in the folder before the folder was watched for new files only. Neither it nor a copy of it is
    /// uploaded. A change of any property, its name too, makes it a new file.
    case old = 4
}
