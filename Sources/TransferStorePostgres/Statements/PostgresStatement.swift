/// A statement of this program for a queue's database.
///
/// The owner of the queue's tables runs it as it is. A login without rights on the tables calls a function of the same
/// text, which the owner has made and the login may execute (``PostgresFunctions``).
package struct PostgresStatement: Sendable, Hashable {
    /// The use that a statement makes of the connection's table of staged jobs.
    package enum BatchImport: Sendable, Hashable {
        case none
        case makes
        case reads
    }

    /// The function's name without its version. It is `nil` where every login runs the statement directly, because it
    /// uses no table or only an owner runs it.
    package let name: String?
    package let access: PostgresAccess
    package let sql: String
    package let staging: BatchImport
    /// Whether the statement is planned by the values of each call, which leave out many of its conditions.
    package let isPlannedAnew: Bool

    package init(
        _ name: String, _ access: PostgresAccess, _ sql: String, staging: BatchImport = .none,
        isPlannedAnew: Bool = false
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

    /// The function's name. Versions of this program whose statements differ have functions of different names, so that
    /// each finds its own.
    package var function: String? {
        guard let name else { return nil }
        // The hash is FNV-1a with 64 bits, which is enough to distinguish the few texts of one name.
        let hash = "\(access.rawValue) \(staging) \(isPlannedAnew) \(sql)".utf8.reduce(14_695_981_039_346_656_037) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return "\(name)_\(String(hash, radix: 36))"
    }
}
