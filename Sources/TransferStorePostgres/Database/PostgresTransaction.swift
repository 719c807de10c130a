import TransferCore

/// One transaction: what its body does is there as a whole, or nothing of it.
package enum PostgresTransaction {
    /// A transaction at whose end the connection was lost: it may be there.
    package struct Unsettled<Value> {
        /// The database's number of it.
        let number: String
        /// The database's timeline when it was there.
        let timeline: Int64
        let outcome: PostgresOutcome<Value>

        /// Asks the database what became of it.
        ///
        /// A standby that was promoted since counts on from what it had got, so that its numbers say nothing: the rows
        /// themselves are looked at.
        ///
        /// - Throws: `TransferError` where nobody can tell, and while its end is still to come.
        package func isCommitted(_ db: PostgresConnection) throws -> Bool {
            let state = try db.run(PostgresTransaction.state, [number, timeline]).first?.text(0)
            switch state {
            case "committed": return true
            case "aborted": return false
            case "in progress":
                throw TransferError(
                    .connectionLost, "a change is still on its way through the queue's database", isTransient: true)
            default:
                if let isThere = outcome.isThere { return try isThere(db) }
                throw TransferError(
                    .internalFault, "another server has taken the place of the queue's database, and may lack a change")
            }
        }
    }

    /// Runs statements between BEGIN and COMMIT. Those that the body posts go with COMMIT in one flight.
    ///
    /// - Parameters:
    ///   - isDurable: Waits for the server's disk; else a loss of the server's power may lose the change.
    ///   - unsettled: Is told where the connection is lost at the end; `nil` where nobody looks it up.
    package static func run<Value>(
        _ db: PostgresConnection, isDurable: Bool = true, unsettled: ((Unsettled<Value>) -> Void)? = nil,
        _ body: (PostgresConnection) throws -> PostgresOutcome<Value>
    ) throws -> Value {
        let outcome: PostgresOutcome<Value>
        var number: String?
        do {
            try db.post(Self.beginning)
            if !isDurable { try relax(db) }
            let numbered = try unsettled.map { _ in try db.post(Self.numbering) }
            outcome = try body(db)
            // The number of a transaction whose end may get lost has to be known before that is on its way.
            number = try numbered?.rows().first?.text(0)
        } catch {
            rollBack(db)
            throw error
        }
        do {
            try db.post(Self.end)
            try db.settle()
        } catch {
            rollBack(db)
            if let number, db.isBroken, PostgresFault.isConnectionNotice(error) {
                unsettled?(Unsettled(number: number, timeline: db.timeline, outcome: outcome))
            }
            throw error
        }
        return try outcome.value()
    }

    /// Leaves the disk of the server out of the transaction that is under way.
    package static func relax(_ db: PostgresConnection) throws { try db.post(Self.relaxation) }

    private static func rollBack(_ db: PostgresConnection) {
        guard !db.isBroken else { return }
        // The server does none of the statements behind one that failed.
        try? db.settle()
        _ = try? db.script("ROLLBACK")
    }

    // MARK: Statements

    private static let beginning = PostgresStatement(direct: "BEGIN")

    private static let relaxation = PostgresStatement(direct: "SET LOCAL synchronous_commit = off")

    private static let numbering = PostgresStatement(direct: "SELECT pg_current_xact_id()")

    private static let end = PostgresStatement(direct: "COMMIT")

    private static let state = PostgresStatement(
        direct: "SELECT CASE WHEN \(PostgresLeases.timeline) = $2 THEN pg_xact_status($1::xid8) END")
}

extension PostgresConnection {
    /// Settings of all connections to a queue, and the way to its tables.
    package func begin(_ address: PostgresAddress, as role: PostgresRole) throws {
        try post(Self.settings, [address.schema])
        let row = try run(Self.place, [address.schema]).first
        timeline = row?.number(1) ?? 0
        // A standby answers questions as well as the server that it follows, and takes no changes.
        if timeline == 0, !role.isOnlooker {
            throw PostgresFault(code: PostgresFault.noChanges, message: "the server is a standby")
        }
        guard row?.flag(0) == true else { return }
        calls = PostgresFunctionCalls(address: address, login: login, wanted: role.access)
    }

    /// A process that is cut off in a transaction holds what it has locked for a minute at most.
    private static let settings = PostgresStatement(
        direct: """
            SELECT set_config('search_path', quote_ident($1), false), set_config('client_min_messages', 'warning', false),
                set_config('bytea_output', 'hex', false), set_config('lock_timeout', '60s', false),
                set_config('idle_in_transaction_session_timeout', '60s', false)
            """)

    /// Whether the tables are somebody's whose rights this login doesn't have, and the database's timeline.
    private static let place = PostgresStatement(
        direct: """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1 AND NOT pg_has_role(nspowner, 'USAGE')),
                CASE WHEN NOT pg_is_in_recovery() THEN \(PostgresLeases.timeline) END
            """)
}
