/// A statement that this program asks of a queue's database.
///
/// The owner of the queue's tables asks it as it is. A login that has no rights on the tables calls a function of the same
/// text, which the owner has made and the login may execute (``PostgresFunctions``).
package struct PostgresStatement: Sendable, Hashable {
    /// The part that the connection's table of staged jobs has in a statement.
    package enum BatchImport: Sendable, Hashable {
        case none
        case makes
        case reads
    }

    /// The function's name without its version; `nil` where every login asks the statement by itself, as it touches no table
    /// or only an owner asks it.
    package let name: String?
    package let access: PostgresAccess
    package let sql: String
    package let staging: BatchImport
    /// Whether it's planned by the values of each call, as many of its conditions are left out by them.
    package let isPlannedAnew: Bool

    package init(
        _ name: String, _ access: PostgresAccess, _ sql: String, staging: BatchImport = .none, isPlannedAnew: Bool = false
    ) {
        self.name = name
        self.access = access
        self.sql = sql
        self.staging = staging
        self.isPlannedAnew = isPlannedAnew
    }

    package init(direct sql: String) {
        name = nil
        access = []
        self.sql = sql
        staging = .none
        isPlannedAnew = false
    }

    /// The function's name. Versions of this program whose statements differ have functions of different names, so that all
    /// of them find their own.
    package var function: String? {
        guard let name else { return nil }
        // FNV-1a, by 64 bits: enough to tell the few texts of one name apart.
        let hash = "\(access.rawValue) \(staging) \(isPlannedAnew) \(sql)".utf8.reduce(14_695_981_039_346_656_037) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return "\(name)_\(String(hash, radix: 36))"
    }
}
