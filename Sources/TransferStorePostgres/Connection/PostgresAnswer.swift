/// The answer to a statement that was sent without a wait for it.
package final class PostgresAnswer {
    /// The connection outlives each of its answers that a caller still asks for.
    private unowned let connection: PostgresConnection
    let explain: (PostgresFault) -> any Error
    private var outcome: Result<PostgresResult, any Error>?

    init(_ connection: PostgresConnection, explain: @escaping (PostgresFault) -> any Error) {
        self.connection = connection
        self.explain = explain
    }

    func came(_ outcome: Result<PostgresResult, any Error>) { self.outcome = outcome }

    /// Returns the rows, and waits for them where they have not come.
    ///
    /// - Throws: The error of the statement, or of one that was sent with it and came before it.
    package func rows() throws -> PostgresResult {
        if outcome == nil { try connection.settle() }
        guard let outcome else { throw connection.lost }
        return try outcome.get()
    }

    /// Waits for the answer, where it has not come.
    package func wait() throws { _ = try rows() }
}
