/// What a batch is, apart from its jobs.
struct BatchHeader: Sendable {
    var name: String
    /// The real path of the job file, if there is one.
    var source: String?
    /// What relative paths start from.
    var directory: String
}
