/// A notification between processes of one queue (PostgreSQL's manual, NOTIFY).
package enum PostgresNotice: String, Sendable {
    /// Jobs may have become ready, or batches were added.
    case work
    /// Commands wait for a process.
    case commands
    /// A process wants jobs released.
    case recalls
    /// An origin asked to be left alone.
    case pause
    /// A client watches single transfers.
    case watched
    /// All origins are tried again, by command.
    case noPauses

    /// Returns the channel of all notifications of a queue, which has the name of its schema.
    package static func channel(_ address: PostgresAddress) -> String { "\"\(address.schema)\"" }

    /// Sends the notification at the end of the present transaction. Repetitions within one transaction are sent once.
    package func tell(_ db: PostgresConnection) throws {
        try db.post(Self.telling, [rawValue])
    }

    // MARK: Statements

    private static let telling = PostgresStatement(direct: "SELECT pg_notify(current_schema(), $1)")
}
