import TransferCore

/// One transaction: its body takes effect as a whole, or not at all.
package enum PostgresTransaction {
    /// A transaction at whose end the connection was lost: it may be committed.
    package struct Unsettled<Value> {
        /// The database's number of the transaction.
        let number: String
        /// The database's timeline at the time of the transaction.
        let timeline: Int64
        let outcome: PostgresOutcome<Value>

        /// Asks the database whether the transaction was committed.
        ///
        /// A standby that was promoted since continues the numbers from the last that it had received, so that they
        /// prove nothing. The rows themselves are checked then.
        ///
        /// - Throws: `TransferError` where the outcome cannot be found out, and while the end is still to come.
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

    /// Runs statements between BEGIN and COMMIT. Those that the body posts are sent together with COMMIT.
    ///
    /// - Parameters:
    ///   - isDurable: Whether the change waits for the server's disk; otherwise a loss of the server's power may lose
    ///     it.
    ///   - unsettled: The function that is called where the connection is lost at the end; `nil` where the outcome is
    ///     not looked up.
    package static func run<Value>(
        _ db: PostgresConnection, isDurable: Bool = true, unsettled: ((Unsettled<Value>) -> Void)? = nil,
        _ body: (PostgresConnection) throws -> PostgresOutcome<Value>
    ) throws -> Value {
        let outcome: PostgresOutcome<Value>
        var number: String?
        do {
            try db.post(Self.beginning)
            db.cancelsAtServer = true
            defer { db.cancelsAtServer = false }
            if !isDurable { try relax(db) }
            let numbered = try unsettled.map { _ in try db.post(Self.numbering) }
            outcome = try body(db)
            // The number of a transaction whose end may get lost must be known before the end is sent.
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
            if let number, db.isBroken, PostgresFault.isUnavailable(error) {
                unsettled?(Unsettled(number: number, timeline: db.timeline, outcome: outcome))
            }
            throw error
        }
        return try outcome.value()
    }

    /// Lets the present transaction end without a wait for the server's disk.
    package static func relax(_ db: PostgresConnection) throws { try db.post(Self.relaxation) }

    private static func rollBack(_ db: PostgresConnection) {
        guard !db.isBroken else { return }
        // The server skips the statements behind one that failed.
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
    /// Makes the settings of all connections to a queue, and finds its tables.
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

    /// A process that is cut off within a transaction keeps its locks for a minute at most.
    private static let settings = PostgresStatement(
        direct: """
            SELECT set_config('search_path', quote_ident($1), false), set_config('client_min_messages', 'warning', false),
                set_config('bytea_output', 'hex', false), set_config('lock_timeout', '60s', false),
                set_config('idle_in_transaction_session_timeout', '60s', false)
            """)

    /// Whether the tables belong to a role whose rights this login lacks, and the database's timeline.
    private static let place = PostgresStatement(
        direct: """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1 AND NOT pg_has_role(nspowner, 'USAGE')),
                CASE WHEN NOT pg_is_in_recovery() THEN \(PostgresLeases.timeline) END
            """)
}
