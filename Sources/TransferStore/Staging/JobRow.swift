import TransferCore

/// What the row of a job is made of that nobody has tried yet.
struct JobRow: Sendable, Equatable {
    var identity: String
    /// Where its file names the destination, or the ID where it has one.
    var span: SourceSpan?
    /// The job's number in its file, counted from 0.
    var number: Int?
    var priority: Int
    var origin: String
    var destination: String
    /// `JobSpec.canonicalJSON`, without secrets.
    var text: String
    var fingerprint: Int64
    var hasSecrets: Bool
    var isUpload: Bool
    /// Where its file names its network rules.
    var networkPlaces: String?
    /// ``Lane/network``.
    var network: String

    static let columns = """
        batch, identity, generation, line, column, width, number, state, priority, origin, destination, spec,
        fingerprint, hasSecrets, isUpload, networkPlaces, network
        """
    static let columnCount = 17

    /// Gives the values of ``columns``.
    func bind(batch: Int64, generation: Int64, state: JobState, to values: inout BoundStatement.Values) {
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
