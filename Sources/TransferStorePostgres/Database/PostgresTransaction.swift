import TransferCore

/// One transaction: what its body does is there as a whole, or nothing of it.
package enum PostgresTransaction {
    /// A transaction at whose end the connection was lost: it may be there.
    package struct Unsettled<Value: Sendable>: Sendable {
        /// The database's number of it.
        let number: String
        package let value: Value

        /// Asks the database what became of it.
        ///
        /// - Parameter timeline: The database's when the transaction began, or 0 where it isn't known. A standby that was
        ///   promoted since counts on from what it had got.
        /// - Throws: `TransferError` where nobody can tell, and while its end is still to come.
        package func isCommitted(_ db: PostgresConnection, timeline: Int64) throws -> Bool {
            guard timeline > 0 else {
                throw TransferError(
                    .internalFault, "the connection to the queue's database was lost in the middle: look, and ask again"
                )
            }
            let state = try db.run(PostgresTransaction.outcome, [number, timeline]).first?.text(0)
            switch state {
            case "committed": return true
            case "aborted": return false
            case "in progress":
                throw TransferError(
                    .connectionLost, "a change is still on its way through the queue's database", isTransient: true)
            default:
                throw TransferError(
                    .internalFault, "another server has taken the place of the queue's database, and may lack a change")
            }
        }
    }

    /// - Parameters:
    ///   - isDurable: Waits for the server's disk; else a loss of the server's power may lose the change.
    ///   - unsettled: Is told where the connection is lost at the end.
    package static func run<Value: Sendable>(
        _ db: PostgresConnection, isDurable: Bool = true, _ body: (PostgresConnection) throws -> Value,
        unsettled: (Unsettled<Value>) -> Void = { _ in }
    ) throws -> Value {
        let relaxed = isDurable ? "" : "SET LOCAL synchronous_commit = off; "
        let number = try db.script("BEGIN; \(relaxed)SELECT pg_current_xact_id()").first?.text(0) ?? ""
        let value: Value
        do {
            value = try body(db)
        } catch {
            if !db.isBroken { _ = try? db.script("ROLLBACK") }
            throw error
        }
        do {
            try db.script("COMMIT")
        } catch {
            if PostgresFault.isAbsence(error) { unsettled(Unsettled(number: number, value: value)) }
            throw error
        }
        return value
    }

    // MARK: Statements

    private static let outcome = PostgresStatement(
        direct: "SELECT CASE WHEN \(PostgresLeases.timeline) = $2 THEN pg_xact_status($1::xid8) END")
}

extension PostgresConnection {
    /// Settings of all connections to a queue, and the way to its tables.
    package func begin(_ address: PostgresAddress, as role: PostgresRole) throws {
        // A process that is cut off in a transaction holds what it has locked for a minute at most.
        try script(
            """
            SET search_path = "\(address.schema)";
            SET client_min_messages = warning;
            SET bytea_output = 'hex';
            SET lock_timeout = '60s';
            SET idle_in_transaction_session_timeout = '60s'
            """)
        guard try run(Self.isForeign, [address.schema]).first?.flag(0) == true else { return }
        calls = PostgresFunctionCalls(address: address, login: login, wanted: role.access)
    }

    /// Whether the tables are somebody's whose rights this login doesn't have.
    private static let isForeign = PostgresStatement(
        direct: """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1 AND NOT pg_has_role(nspowner, 'USAGE'))
            """)
}
