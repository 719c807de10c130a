import CTransferPostgres
import Glibc
import TransferCore
import TransferEventLoop

/// The search for the first server of a queue's address that accepts the connection.
///
/// libpq gets one address of one server at a time. It would try the next one only where a server refuses. A server that
/// does not answer would hold it until the time is over (PostgreSQL's manual, PQconnectPoll), and lookups of names
/// block.
struct PostgresServerSearch {
    let address: PostgresAddress
    let abandonment: PostgresCancellation
    let names: PostgresNames

    /// The reasons of servers that did not accept the connection.
    private struct Refusals: Error {
        var all: [PostgresRefusal] = []

        init(_ all: [PostgresRefusal] = []) { self.all = all }
        init(_ words: String) { all = [PostgresRefusal(words: words)] }
    }

    /// An attempt to connect to one server.
    private struct Attempt {
        /// The server; `nil` where libpq finds it.
        var host: PostgresHosts.Host?
        /// The kind of server that is looked for; `nil` for that which the address asks for.
        var attributes: String?
    }

    /// Connects to a server, and waits for the connection.
    ///
    /// - Returns: The connection, which the caller must finish.
    /// - Throws: `TransferError`.
    func connect(until limit: MonotonicTime) throws -> OpaquePointer {
        do {
            return try first(of: attempts, until: limit) { try connect($0, until: $1) }
        } catch let refusals as Refusals {
            throw PostgresRefusal.error(refusals.all, address)
        }
    }

    private var attempts: [Attempt] {
        guard let hosts = address.hosts?.all else { return [Attempt()] }
        let wanted = address.keywords["target_session_attrs"] ?? Self.variable("PGTARGETSESSIONATTRS")
        let passes: [String?] = hosts.count > 1 && wanted == "prefer-standby" ? ["standby", "any"] : [nil]
        return passes.flatMap { attributes in hosts.map { Attempt(host: $0, attributes: attributes) } }
    }

    /// Tries the places one after the other. Each has its share of the time, so that one that does not answer does not
    /// delay the others too long.
    private func first<Place>(
        of places: [Place], until limit: MonotonicTime, _ connect: (Place, MonotonicTime) throws -> OpaquePointer
    ) throws -> OpaquePointer {
        var refusals = Refusals()
        for (index, place) in places.enumerated() {
            let now = MonotonicTime.now
            do {
                return try connect(place, now + (limit - now) / (places.count - index))
            } catch let more as Refusals {
                refusals.all += more.all.filter { !refusals.all.contains($0) }
            }
        }
        throw refusals
    }

    private func connect(_ attempt: Attempt, until limit: MonotonicTime) throws -> OpaquePointer {
        guard let name = attempt.host?.name else { return try connect(attempt, at: attempt.host?.address, limit) }
        let addresses: [String]
        do {
            addresses = try names.addresses(of: name, until: limit, unless: abandonment)
        } catch let error as TransferError where error.code == .cannotResolveHost {
            throw Refusals(error.message)
        }
        return try first(of: addresses, until: limit) { try connect(attempt, at: $0, $1) }
    }

    /// - Parameter place: The address of the server; `nil` where libpq knows it.
    private func connect(_ attempt: Attempt, at place: String?, _ limit: MonotonicTime) throws -> OpaquePointer {
        var keywords = settings
        if let host = attempt.host {
            (keywords["host"], keywords["hostaddr"], keywords["port"]) = (host.host, place, host.port)
        }
        if let attributes = attempt.attributes { keywords["target_session_attrs"] = attributes }
        let names = keywords.keys.sorted()
        let raw = PostgresStrings.with(names.map { $0 }) { keys in
            PostgresStrings.with(names.map { keywords[$0] }) { values in PQconnectStartParams(keys, values, 0) }
        }
        guard let raw else { throw TransferError(.internalFault, "no memory for a connection to the database") }
        // Without this, libpq would print the server's warnings where a command shows its progress.
        _ = PQsetNoticeReceiver(raw, { _, _ in }, nil)
        // The code of a refusal is in its verbose form alone.
        PQsetErrorVerbosity(raw, PQERRORS_VERBOSE)
        do {
            guard try dial(raw, until: bound(limit)) else {
                let server = [attempt.host?.host, place.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
                throw Refusals("\(server.isEmpty ? "the server" : server) does not answer")
            }
        } catch {
            PQfinish(raw)
            throw error
        }
        return raw
    }

    private var settings: [String: String] {
        var keywords = address.keywords
        keywords["client_encoding"] = "UTF8"
        keywords["fallback_application_name"] = "transfer"
        // A server that is cut off is given up after half a minute.
        for (keyword, value) in [
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
        ] where keywords[keyword] == nil {
            keywords[keyword] = value
        }
        return keywords
    }

    /// Applies `connect_timeout`, which libpq leaves to callers that do not block (PostgreSQL's manual, PQconnectPoll).
    private func bound(_ limit: MonotonicTime) -> MonotonicTime {
        let text = address.keywords["connect_timeout"] ?? Self.variable("PGCONNECT_TIMEOUT")
        guard let seconds = text.flatMap({ Int($0) }), seconds > 0 else { return limit }
        return min(limit, .now + .seconds(seconds))
    }

    /// - Returns: Whether the server is connected; otherwise it has not answered in time.
    private func dial(_ raw: OpaquePointer, until limit: MonotonicTime) throws -> Bool {
        var step = PQstatus(raw) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while step != PGRES_POLLING_OK {
            let events =
                switch step {
                case PGRES_POLLING_READING: Int16(POLLIN)
                case PGRES_POLLING_WRITING: Int16(POLLOUT)
                default: throw refusal(raw)
                }
            guard try abandonment.wait(for: PQsocket(raw), events, until: limit) else { return false }
            step = PQconnectPoll(raw)
        }
        _ = PQsetnonblocking(raw, 1)
        PQsetErrorVerbosity(raw, PQERRORS_DEFAULT)
        return true
    }

    private func refusal(_ raw: OpaquePointer) -> Refusals {
        let refusal = PostgresRefusal(verbose: PostgresConnection.words(raw))
        // Without a password, libpq itself reports the fault, and no code.
        guard refusal.code == nil, PQconnectionNeedsPassword(raw) == 1 else { return Refusals([refusal]) }
        return Refusals([PostgresRefusal(words: refusal.words, code: PostgresFault.wrongPassword)])
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
