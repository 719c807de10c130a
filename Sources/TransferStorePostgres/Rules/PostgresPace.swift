import TransferCore
import TransferEventLoop
package import TransferScheduling

/// The times of starts at origins with a rate. A row for each origin has the first free time, on the database's clock.
package enum PostgresPace {
    private static let now = PostgresClock.microseconds

    package static func reserve(_ db: PostgresConnection, _ ask: SharedRateTokens.Ask) throws -> SharedRateTokens.Given
    {
        let length = ask.intervalInMicroseconds * Int64(ask.count)
        // The row's lock makes workers take turns.
        let wait = try db.run(Self.reservation, [ask.origin, length]).first?.number(0)
        return SharedRateTokens.Given(ask, first: .now + .microseconds(max(0, wait ?? 0)))
    }

    // MARK: Statements

    private static let reservation = PostgresStatement(
        "reserve_starts", .work,
        """
        INSERT INTO origin_pace AS pace (origin, free) VALUES ($1, \(now) + $2)
        ON CONFLICT (origin) DO UPDATE SET free = greatest(pace.free, \(now)) + $2
        RETURNING free - $2 - \(now)
        """)

    package static let statements = [
        reservation
    ]
}
