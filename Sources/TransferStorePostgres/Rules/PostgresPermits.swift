import FoundationEssentials
import TransferCore
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore

/// The places at origins that all workers share. Their number is configured, or is a level that the workers find
/// together, stored in one row for each origin (`ConcurrencyProbe`), by the database's clock. Each worker that has or wants
/// places has a row of its own.
struct PostgresPermits {
    let db: PostgresConnection
    /// The process that asks.
    let process: Int64

    /// The rows of an origin, whose answers are still to come.
    private struct Known {
        let users: PostgresAnswer
        let level: PostgresAnswer
    }

    func share(_ asks: [SharedPermits.Ask]) throws -> [SharedPermits.Given] {
        // All processes lock several origins in the same order.
        try asks.sorted { $0.origin < $1.origin }.map { ($0, try look(at: $0.origin)) }.map { try share($0, $1) }
    }

    private func look(at origin: String) throws -> Known {
        // Workers that count take turns.
        try db.post(Self.turn, [origin])
        return Known(users: try db.post(Self.users, [origin]), level: try db.post(Self.level, [origin]))
    }

    private func share(_ ask: SharedPermits.Ask, _ known: Known) throws -> SharedPermits.Given {
        var (own, others): (SharedPermits.Use?, [SharedPermits.Use]) = (nil, [])
        for row in try known.users.rows() {
            let use = SharedPermits.Use(held: row.int(1) ?? 0, wanted: row.int(2) ?? 0)
            if row.number(0) == process { own = use } else { others.append(use) }
        }
        let count = ask.use.granted(of: try places(ask, known, beside: others), beside: others)
        // Jobs that are under way keep their places until they end.
        let use = SharedPermits.Use(held: max(count, ask.use.held), wanted: ask.use.wanted)
        if use.held == 0, use.wanted == 0 {
            if own != nil { try db.post(Self.leaving, [process, ask.origin]) }
        } else if use != own {
            try db.post(Self.taking, [process, ask.origin, use.held, use.wanted])
        }
        return SharedPermits.Given(ask, count: count)
    }

    private func places(_ ask: SharedPermits.Ask, _ known: Known, beside others: [SharedPermits.Use]) throws -> Int {
        if case .exactly(let count) = ask.places { return max(1, count) }
        let row = try known.level.rows().first
        let (known, now) = (row?.text(0), MonotonicTime(nanoseconds: (row?.number(1) ?? 0) * 1000))
        // A level that another version stored is found anew.
        var level =
            known.flatMap { try? JSONDecoder().decode(ConcurrencyProbe.self, from: Data($0.utf8)) }
            ?? ConcurrencyProbe(first: ConcurrencyProbe.first(at: ask.origin))
        let all = others + [ask.use]
        level.saw(
            ask.seen.reported(at: .now, as: now), inUse: all.reduce(0) { $0 + $1.held },
            isFull: all.reduce(0) { $0 + $1.wanted } > level.places, now: now)
        let text = String(decoding: try JSONEncoder().encode(level), as: UTF8.self)
        if text != known { try db.post(Self.noting, [ask.origin, text]) }
        return level.places
    }

    // MARK: Statements

    private static let turn = PostgresStatement(
        direct: "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || $1, 0))")

    private static let users = PostgresStatement(
        "users_of_places", .work,
        """
        SELECT origin_place.process, held, wanted FROM origin_place JOIN process ON generation = origin_place.process
        WHERE origin_place.origin = $1 AND \(PostgresStatus.alive)
        """)

    private static let taking = PostgresStatement(
        "take_places", .work,
        """
        INSERT INTO origin_place (process, origin, held, wanted) VALUES ($1, $2, $3, $4)
        ON CONFLICT (process, origin) DO UPDATE SET held = excluded.held, wanted = excluded.wanted
        """)

    private static let leaving = PostgresStatement(
        "leave_places", .work, "DELETE FROM origin_place WHERE process = $1 AND origin = $2")

    private static let level = PostgresStatement(
        "level_of_origin", .work,
        "SELECT (SELECT level FROM origin_level WHERE origin = $1), \(PostgresClock.microseconds)")

    private static let noting = PostgresStatement(
        "note_level", .work,
        """
        INSERT INTO origin_level (origin, level) VALUES ($1, $2)
        ON CONFLICT (origin) DO UPDATE SET level = excluded.level
        """)

    package static let statements = [
        users, taking, leaving, level, noting,
    ]
}
