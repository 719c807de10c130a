/// Of those jobs that are for versions of a watched folder's files.
struct FolderTally: Sendable {
    var counts: [JobState: Int] = [:]
    /// Of two tallies the later one holds.
    var stamp = 0

    /// Jobs that haven't ended.
    var open: Int { counts.values.reduce(0, +) - counts.ended }
}
