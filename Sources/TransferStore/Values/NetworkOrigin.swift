package import TransferJobs

/// The file that sets a job's network rules, and the places of the rules in it.
package struct NetworkOrigin: Sendable {
    /// The real path of the job file, if there is one.
    package var source: String?
    package var places: NetworkPlaces

    package init(source: String?, places: NetworkPlaces) {
        self.source = source
        self.places = places
    }
}
