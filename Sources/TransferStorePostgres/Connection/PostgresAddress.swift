import CTransferPostgres
import Glibc
import TransferCore

/// The address of a queue in a PostgreSQL database: `postgres://[user@][host][:port]/database[?queue=NAME&…]`. Apart
/// from the queue's name it is read as by libpq (PostgreSQL's manual, "Connection URIs").
package struct PostgresAddress: Sendable, Hashable {
    /// The name of the queue where none is given.
    package static let usualQueue = "default"

    /// The keywords of libpq and their values.
    package let keywords: [String: String]
    /// The servers; `nil` where libpq finds them itself, at its default place.
    package let hosts: PostgresHosts?
    /// The name of the queue; several queues may be in one database.
    package let queue: String

    /// The schema that has the queue's tables.
    package var schema: String { "transfer_\(queue)" }

    /// The address without the parts that a log must not show.
    package var shown: String {
        "postgres://\(hosts?.shown ?? "")/\(keywords["dbname"] ?? "")?queue=\(queue)"
    }

    /// - Parameter environment: The lookup of environment variables, for facts that the address lacks.
    /// - Throws: `TransferError` where it is no such address, and where it has a password. Other processes would see
    ///   the password in the list of commands, and logs would keep it.
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
            // An address without a host means a socket of this machine.
            keywords["sslmode"] = hosts?.areLocal ?? true ? "prefer" : "verify-full"
        }
        self.keywords = keywords
        self.queue = queue
    }

    /// Takes out the queue's name, which libpq does not know.
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
                .invalidRequest, "the queue's address cannot be read: postgres://user@host:port/database")
        }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// Returns libpq's keywords that have a value.
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
