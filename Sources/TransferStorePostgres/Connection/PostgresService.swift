import CTransferPostgres

/// The servers of a service file (PostgreSQL's manual, "The Connection Service File"), as libpq reads it.
enum PostgresService {
    /// The keywords that servers are found by, and the database.
    private static let known: Set = [
        "host", "hostaddr", "port", "dbname", "connect_timeout", "target_session_attrs", sslMode,
    ]
    private static let sslMode = "sslmode"

    /// libpq tells what the file says of a connection that it refuses: before a name is looked up, as there is no such kind
    /// of channel binding. The mode `prefer` is libpq's own, where nothing is said.
    ///
    /// - Parameter keywords: libpq's, which are stronger than the file.
    /// - Returns: Those with what the file says of the servers beside them; as they were where there is no such service, which
    ///   libpq says when it connects.
    static func keywords(of service: String, _ keywords: [String: String]) -> [String: String] {
        var asked = keywords.filter { known.contains($0.key) }
        asked["service"] = service
        asked["channel_binding"] = "none"
        let names = asked.keys.sorted()
        let raw = PostgresStrings.with(names.map { $0 }) { keys in
            PostgresStrings.with(names.map { asked[$0] }) { values in PQconnectStartParams(keys, values, 0) }
        }
        defer { PQfinish(raw) }
        guard let raw, PQstatus(raw) == CONNECTION_BAD, let options = PQconninfo(raw) else { return keywords }
        defer { PQconninfoFree(options) }
        let found = PostgresAddress.values(of: options)
            .filter { known.contains($0.key) && !($0.key == sslMode && $0.value == "prefer") }
        return keywords.merging(found) { own, _ in own }
    }
}
