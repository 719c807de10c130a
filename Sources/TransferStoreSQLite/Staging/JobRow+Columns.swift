import TransferCore
package import TransferJobs
package import TransferStore

extension JobRow {
    package static let columns = """
        batch, identity, generation, line, column, width, number, state, priority, origin, destination, spec,
        fingerprint, hasSecrets, isUpload, networkPlaces, network
        """
    package static let columnCount = 17

    /// Binds the values of ``columns``.
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
