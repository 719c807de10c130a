/// Where the rules of a job's network stand: in which file, and where in it.
struct NetworkOrigin: Sendable {
    /// The real path of the job file, if there is one.
    var source: String?
    var places: NetworkPlaces
}
