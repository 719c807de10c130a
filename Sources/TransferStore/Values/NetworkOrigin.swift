package import TransferJobs

/// Where the rules of a job's network stand: in which file, and where in it.
package struct NetworkOrigin: Sendable {
    /// The real path of the job file, if there is one.
    package var source: String?
    package var places: NetworkPlaces
}
