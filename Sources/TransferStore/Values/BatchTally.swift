/// How the jobs of a batch stand.
struct BatchTally: Sendable {
    var counts: [JobState: Int] = [:]
    var watched: FolderTally?
}
