import TransferCore

/// The functions by which logins without rights on the tables run the statements (PostgreSQL's manual, "Writing
/// SECURITY DEFINER Functions Safely"). The owner of the tables makes them, and they run with the owner's rights.
package struct PostgresFunctions: Sendable {
    package let schema: String
    package var statements = PostgresStatements.all

    package init(schema: String) { self.schema = schema }

    /// Returns the statements that have no function yet.
    package func wanting(_ db: PostgresConnection) throws -> [PostgresStatement] {
        let made = Set(try db.run(Self.known).compactMap { $0.text(0) })
        return statements.filter { $0.function.map { !made.contains($0) } ?? false }
    }

    /// Makes the missing functions, and lets the logins call them that have the part for it.
    package func make(_ db: PostgresConnection) throws {
        let missing = try wanting(db)
        guard !missing.isEmpty else { return }
        // Statements that read the connection's table of staged jobs can be described only where there is one.
        for statement in statements where statement.staging == .makes { try db.run(statement) }
        let shapes = try missing.map { try db.describe($0.sql) }
        let types = try names(db, of: Set(shapes.flatMap { $0.parameters + $0.columns }))
        var script: [String] = []
        for (statement, shape) in zip(missing, shapes) {
            guard let function = statement.function else { continue }
            let parameters = shape.parameters.map { types[$0] ?? "text" }.joined(separator: ", ")
            let columns = shape.columns.enumerated().map { "c\($0.offset) \(types[$0.element] ?? "text")" }
            script.append(text(statement, "\"\(function)\"(\(parameters))", columns: columns))
        }
        try db.script(script.joined(separator: "\n"))
        for statement in missing {
            try db.run(Self.note, [statement.function, PostgresArray(statement.access.names)])
        }
        try db.run(Self.allowance)
    }

    /// Drops the functions of earlier tables.
    package func drop(_ db: PostgresConnection) throws {
        let old = try db.run(Self.old).compactMap { $0.text(0) }
        guard !old.isEmpty else { return }
        try db.script("DROP FUNCTION \(old.joined(separator: ", ")); DELETE FROM callable")
    }

    private func names(_ db: PostgresConnection, of types: Set<Int64>) throws -> [Int64: String] {
        try db.run(Self.typeNames, [PostgresArray(Array(types))]).reduce(into: [:]) {
            $0[$1.number(0) ?? 0] = $1.text(1)
        }
    }

    private func text(_ statement: PostgresStatement, _ signature: String, columns: [String]) -> String {
        let planning = statement.isPlannedAnew ? " SET plan_cache_mode = force_custom_plan" : ""
        // A name that is both a column of a table and of the result means the table's column.
        return """
            CREATE OR REPLACE FUNCTION \(signature)
            RETURNS \(columns.isEmpty ? "void" : "TABLE (\(columns.joined(separator: ", ")))")
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = "\(schema)", pg_temp\(planning) AS $transfer$
            #variable_conflict use_column
            BEGIN
            \(statement.staging == .reads ? Self.guardOfStaging : "")
            \(columns.isEmpty ? "" : "RETURN QUERY ")\(statement.sql);
            \(statement.staging == .makes ? Self.guardOfStaging + Self.grantOfStaging : "")
            END
            $transfer$;
            REVOKE ALL ON FUNCTION \(signature) FROM PUBLIC;
            """
    }

    /// A login may make a view of that name, whose functions would run with the owner's rights. So nothing but the
    /// owner's own table is read.
    private static let guardOfStaging = """
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_roles ON pg_roles.oid = relowner
                WHERE pg_class.oid = pg_catalog.to_regclass('pg_temp.staged') AND relkind = 'r' AND rolname = current_user)
        THEN RAISE insufficient_privilege USING MESSAGE = 'the table "staged" of this connection isn''t the queue''s';
        END IF;
        """

    private static let grantOfStaging = """

        EXECUTE pg_catalog.format('GRANT INSERT ON pg_temp.staged TO %I', session_user);
        """

    // MARK: Statements

    private static let known = PostgresStatement(direct: "SELECT name FROM callable")

    private static let note = PostgresStatement(
        direct: """
            INSERT INTO callable (name, parts) VALUES ($1, $2::text[]) ON CONFLICT (name) DO UPDATE SET parts = excluded.parts
            """)

    private static let allowance = PostgresStatement(
        direct: "SELECT allow(login, part) FROM allowed JOIN pg_catalog.pg_roles ON rolname = login")

    private static let old = PostgresStatement(
        direct: """
            SELECT pg_proc.oid::regprocedure FROM pg_catalog.pg_proc JOIN callable ON name = proname
            WHERE pronamespace = current_schema()::regnamespace
            """)

    private static let typeNames = PostgresStatement(
        direct: "SELECT oid::bigint, format_type(oid, NULL) FROM pg_catalog.pg_type WHERE oid = ANY ($1::bigint[])")
}
