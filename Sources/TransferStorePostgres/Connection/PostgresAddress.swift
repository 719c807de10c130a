import CTransferPostgres
import Glibc
import TransferCore

/// The address of a queue in a PostgreSQL database: `postgres://[user@][host][:port]/database[?queue=NAME&…]`, as libpq
/// reads it (PostgreSQL's manual, "Connection URIs"), with the queue's name in addition.
package struct PostgresAddress: Sendable, Hashable {
    /// The queue where none is named.
    package static let usualQueue = "default"

    /// libpq's keywords and their values.
    package let keywords: [String: String]
    /// The servers; `nil` where libpq finds them by itself, at its usual place.
    package let hosts: PostgresHosts?
    /// Several queues may be in one database.
    package let queue: String

    /// The schema that has the queue's tables.
    package var schema: String { "transfer_\(queue)" }

    /// The address without anything that a log mustn't show.
    package var shown: String {
        "postgres://\(hosts?.shown ?? "")/\(keywords["dbname"] ?? "")?queue=\(queue)"
    }

    /// - Parameter environment: The value of a variable, which may say what the address doesn't.
    /// - Throws: `TransferError` where it's no such address, and where it has a password: other processes see it in the
    ///   list of commands, and logs keep it.
    package init(
        _ url: String, environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) throws {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw TransferError(.invalidRequest, "a queue's address begins with postgres://")
        }
        let (address, queue) = try Self.takeQueue(out: url)
        var keywords = try Self.parse(address)
        guard keywords["password"] == nil else {
            throw TransferError(
                .invalidRequest,
                "the queue's address has a password, which other processes can see: write it into ~/.pgpass (host:port:database:user:password, mode 0600), or into a service file, and name that with ?service=NAME"
            )
        }
        let service = keywords["service"] ?? environment("PGSERVICE")
        if let service { keywords = PostgresService.keywords(of: service, keywords) }
        hosts = PostgresHosts(keywords, environment: environment)
        if keywords["sslmode"] == nil, environment("PGSSLMODE") == nil {
            // Without a host it's a socket of this machine.
            keywords["sslmode"] = hosts?.areLocal ?? true ? "prefer" : "verify-full"
        }
        self.keywords = keywords
        self.queue = queue
    }

    /// Takes the queue's name out, which libpq doesn't know.
    private static func takeQueue(out url: String) throws -> (address: String, queue: String) {
        guard let mark = url.firstIndex(of: "?") else { return (url, usualQueue) }
        var queue = usualQueue
        let items = url[url.index(after: mark)...].split(separator: "&").filter { item in
            guard item.hasPrefix("queue=") else { return true }
            queue = String(item.dropFirst("queue=".count))
            return false
        }
        guard isName(queue) else {
            throw TransferError(
                .invalidRequest, "a queue's name has 1 to 40 lower-case letters, digits and underscores: \"\(queue)\"")
        }
        return (url[..<mark] + (items.isEmpty ? "" : "?" + items.joined(separator: "&")), queue)
    }

    private static func isName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
            }
    }

    private static func parse(_ address: String) throws -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(address, &message) else {
            defer { PQfreemem(message) }
            // libpq's text may repeat the address, and a password with it.
            throw TransferError(
                .invalidRequest, "the queue's address can't be read: postgres://user@host:port/database")
        }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// libpq's keywords that have a value.
    static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var keywords: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { keywords[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return keywords
    }
}
