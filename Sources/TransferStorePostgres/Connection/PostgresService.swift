import CTransferPostgres

/// The servers of a service file (PostgreSQL's manual, "The Connection Service File"), as libpq reads it.
enum PostgresService {
    /// The keywords that name the servers and the database.
    private static let known: Set = [
        "host", "hostaddr", "port", "dbname", "connect_timeout", "target_session_attrs", sslMode,
    ]
    private static let sslMode = "sslmode"

    /// Reads the service's keywords from a connection that libpq refuses. An invalid kind of channel binding makes
    /// libpq refuse it before it looks up a name. The mode `prefer` is ignored, because it is libpq's default.
    ///
    /// - Parameter keywords: The libpq keywords of the address, which override the file.
    /// - Returns: The keywords together with those of the file about the servers. They are unchanged where there is no
    ///   such service, which libpq reports when it connects.
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
