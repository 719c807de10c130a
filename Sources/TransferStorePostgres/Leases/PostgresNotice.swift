/// A notification between processes of one queue (PostgreSQL's manual, NOTIFY).
package enum PostgresNotice: String, Sendable {
    /// Jobs may have become ready, or batches have come.
    case work
    /// Commands wait for somebody.
    case commands
    /// Somebody wants jobs released.
    case recalls
    /// An origin asked to be left alone.
    case pause
    /// Somebody watches single transfers.
    case watched
    /// Somebody had all origins tried again.
    case noPauses

    /// The channel of all notifications of a queue bears the name of its schema.
    package static func channel(_ address: PostgresAddress) -> String { "\"\(address.schema)\"" }

    /// Tells it at the end of the transaction that is under way. The same twice in one transaction is told once.
    package func tell(_ db: PostgresConnection) throws {
        try db.post(Self.telling, [rawValue])
    }

    // MARK: Statements

    private static let telling = PostgresStatement(direct: "SELECT pg_notify(current_schema(), $1)")
}
