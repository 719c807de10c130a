import TransferCore

/// The names under which files of watched folders are not uploaded. Each is reported once, however often the folder is
/// read.
package struct PostgresOtherNames: Sendable {
    let database: PostgresDatabase

    /// Records names.
    ///
    /// - Returns: For each name, whether it was unknown before.
    func note(_ names: [String], folder: Int64) throws -> [Bool] {
        try database.write { db in
            let rows = try db.run(Self.insertion, [folder, PostgresArray(names)])
            let added = Set(rows.compactMap { $0.text(0).map { PathKey($0) } })
            return names.map { added.contains(PathKey($0)) }
        }
    }

    func page(folder: Int64, after path: String, limit: Int) throws -> [String] {
        try database.read { db in try db.run(Self.page, [folder, path, limit]).compactMap { $0.text(0) } }
    }

    func forget(_ names: [String], folder: Int64) throws {
        try database.write(isRepeatable: true) { db in try Self.forget(db, names, folder: folder) }
    }

    static func forget(_ db: PostgresConnection, _ names: [String], folder: Int64) throws {
        try db.post(Self.removal, [folder, PostgresArray(names)])
    }

    // MARK: Statements

    private static let insertion = PostgresStatement(
        "note_other_names", .submit,
        """
        INSERT INTO other_name (folder, path) SELECT $1, name FROM unnest($2::text[]) AS name
        ON CONFLICT DO NOTHING RETURNING path
        """)

    private static let page = PostgresStatement(
        "other_names", .submit,
        """
        SELECT path FROM other_name WHERE folder = $1 AND path COLLATE "C" > $2 ORDER BY path COLLATE "C" LIMIT $3
        """)

    private static let removal = PostgresStatement(
        "forget_other_names", .submit,
        """
        DELETE FROM other_name WHERE folder = $1 AND key IN (SELECT md5(name) FROM unnest($2::text[]) AS name)
        """)

    package static let statements = [
        insertion, page, removal,
    ]
}
