import TransferCore

/// The numbers of ends, which are the cursors of their readers. Each is given once, and is visible only after all lower
/// ones. The lock on the counter's row until the end of the transaction ensures that.
package enum PostgresEndNumbers {
    /// The number that was given last, in SQL. After ``post(_:_:)`` it is the last of this transaction's own.
    package static let taken = "(SELECT value FROM counter WHERE name = 'end')"

    /// Takes the next numbers, for ends that are posted after this call. The counter, which all processes wait for, is
    /// locked for no round trip if the transaction's end is sent with them.
    ///
    /// - Returns: The answer with the first of the numbers.
    package static func post(_ db: PostgresConnection, _ count: Int) throws -> PostgresAnswer {
        try db.post(Self.taking, [count])
    }

    /// Takes the next numbers.
    ///
    /// - Returns: The first of the numbers.
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
