import TransferCore
package import TransferJobs

/// The columns of a job that has had no attempt yet.
package struct JobRow: Sendable, Equatable {
    package var identity: String
    /// The place where the job file names the destination, or the ID where it has one.
    package var span: SourceSpan?
    /// The job's number in its file, counted from 0.
    package var number: Int?
    package var priority: Int
    package var origin: String
    package var destination: String
    /// `JobSpec.canonicalJSON`, without secrets.
    package var text: String
    package var fingerprint: Int64
    package var hasSecrets: Bool
    package var isUpload: Bool
    /// The places where the job file names the job's network rules.
    package var networkPlaces: String?
    /// ``/TransferJobs/Lane/network``.
    package var network: String
    /// ``/TransferJobs/Lane/tags``; a queue of one machine has none.
    package var tags = ""

    package static let columns = """
        batch, identity, generation, line, column, width, number, state, priority, origin, destination, spec,
        fingerprint, hasSecrets, isUpload, networkPlaces, network
        """
    package static let columnCount = 17

    /// Gives the values of ``columns``.
    package func bind(batch: Int64, generation: Int64, state: JobState, to values: inout BoundStatement.Values) {
        values.add(batch)
        values.add(identity)
        values.add(generation)
        values.add(span?.line)
        values.add(span?.column)
        values.add(span?.length)
        values.add(number)
        values.add(state.rawValue)
        values.add(priority)
        values.add(origin)
        values.add(destination)
        values.add(text)
        values.add(fingerprint)
        values.add(hasSecrets)
        values.add(isUpload)
        values.add(networkPlaces)
        values.add(network)
    }
}
