import TransferCore

/// The numbers of ends, which are the cursors of those who read them: each is given once, and visible only after all that are
/// lower. The counter's row is locked until the transaction ends, which makes it so.
package enum PostgresEndNumbers {
    /// The number that was given last, in SQL. Behind ``post(_:_:)`` it's the last of this transaction's own.
    package static let taken = "(SELECT value FROM counter WHERE name = 'end')"

    /// Takes the next numbers, for ends that are posted behind it: the counter, which all wait for, is locked for no round
    /// trip where the transaction's end goes with them.
    ///
    /// - Returns: The first of them.
    package static func post(_ db: PostgresConnection, _ count: Int) throws -> PostgresAnswer {
        try db.post(Self.taking, [count])
    }

    /// Takes the next numbers.
    ///
    /// - Returns: The first of them.
    package static func take(_ db: PostgresConnection, _ count: Int) throws -> Int64 {
        let row = try db.run(Self.taking, [count]).first
        return row?.number(0) ?? 1
    }

    package static func last(_ db: PostgresConnection) throws -> Int64 {
        try db.run(Self.lastNumber).first?.number(0) ?? 0
    }

    // MARK: Statements

    private static let taking = PostgresStatement(
        "take_end_numbers", [.submit, .work],
        """
        UPDATE counter SET value = value + $1 WHERE name = 'end' RETURNING value - $1 + 1
        """)

    private static let lastNumber = PostgresStatement(
        "last_end_number", .all, "SELECT value FROM counter WHERE name = 'end'")

    package static let statements = [
        taking, lastNumber,
    ]
}
