import CTransferPostgres
import Glibc
package import TransferCore
import TransferEventLoop

/// One connection to a PostgreSQL database. It waits where it's called, on the store's worker, until the server answers or
/// until somebody abandons it.
///
/// The socket never blocks: each wait is a poll(2) of it and of an eventfd(2), so that a server that doesn't answer keeps no
/// thread for good.
///
/// `@unchecked`: only ``abandon()`` is called from other threads, and touches the abandonment alone; all else is called under
/// the lock of ``PostgresDatabase``, or by the one thread of ``PostgresKeeper``.
package final class PostgresConnection: @unchecked Sendable {
    package static let connectTimeout = Duration.seconds(15)

    let raw: OpaquePointer
    private let abandonment: PostgresAbandonment
    /// The end of all waits; `nil` where the kernel's own bounds of a connection are enough.
    package var limit: MonotonicTime?
    /// Whether somebody stopped waiting for an answer, which so would be taken for that of the next statement.
    private var isOutOfStep = false
    /// The functions that are called in place of statements; `nil` for an owner of the queue's tables.
    package var calls: PostgresFunctionCalls?
    /// The names of the statements that the server has prepared, by their text.
    private var prepared: [String: String] = [:]

    /// Connects, and waits for it.
    ///
    /// - Parameters:
    ///   - abandonment: Ends the wait for it, and those for its answers.
    ///   - names: Looks up the servers' names.
    ///   - timeout: The longest that it may take.
    /// - Throws: `TransferError`.
    package init(
        _ address: PostgresAddress, _ abandonment: PostgresAbandonment = PostgresAbandonment(),
        names: PostgresNames = PostgresNames(), within timeout: Duration = connectTimeout
    ) throws {
        self.abandonment = abandonment
        let search = PostgresServerSearch(address: address, abandonment: abandonment, names: names)
        raw = try search.connect(until: .now + timeout)
    }

    deinit { PQfinish(raw) }

    /// Ends what is waited for, now and later. For any thread.
    package func abandon() { abandonment.tell() }

    /// Whether the connection is of no use any more.
    package var isBroken: Bool { isOutOfStep || abandonment.isTold || PQstatus(raw) == CONNECTION_BAD }

    /// The name of the login.
    var login: String { String(cString: PQuser(raw)) }

    /// libpq's last message, on one line.
    var words: String { Self.words(raw) }

    static func words(_ raw: OpaquePointer) -> String {
        String(cString: PQerrorMessage(raw)).split(whereSeparator: \.isNewline)
            .map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
    }

    /// - Throws: `TransferError` when the time is over, or the connection was abandoned: it's broken then.
    func wait(for events: Int16, until limit: MonotonicTime? = nil) throws {
        let isReady: Bool
        do {
            isReady = try look(for: events, until: limit ?? self.limit)
        } catch {
            isOutOfStep = true
            throw error
        }
        guard isReady else {
            isOutOfStep = true
            throw TransferError(.timedOut, "the queue's database doesn't answer", isTransient: true)
        }
    }

    /// - Returns: Whether the socket is ready before the time is over.
    /// - Throws: `TransferError` when the connection was abandoned.
    func look(for events: Int16, until limit: MonotonicTime?) throws -> Bool {
        try abandonment.wait(for: PQsocket(raw), events, until: limit)
    }

    /// The connection is lost, or the server speaks of something that wasn't asked.
    var lost: TransferError {
        TransferError(.connectionLost, "the connection to the queue's database is lost: \(words)", isTransient: true)
    }

    // MARK: Statements

    /// Runs one statement, prepared once in this connection.
    ///
    /// - Throws: ``PostgresFault``; `TransferError` where the connection is lost, and where the login may not do that.
    @discardableResult
    package func run(_ statement: PostgresStatement, _ values: [(any PostgresValue)?] = []) throws -> PostgresResult {
        let texts = values.map { $0?.postgresText }
        guard let calls, let text = calls.text(statement, values: values.count) else {
            return try statement.isPlannedAnew ? sendOnce(statement.sql, texts) : send(prepared: statement.sql, texts)
        }
        do {
            return try send(prepared: text, texts)
        } catch let fault as PostgresFault {
            throw calls.explained(fault, statement)
        }
    }

    private func send(prepared sql: String, _ values: [String?]) throws -> PostgresResult {
        let name = try prepare(sql)
        return try send {
            PostgresStrings.with(values) { values, count in
                PQsendQueryPrepared(raw, name, count, values, nil, nil, 0)
            }
        }
    }

    private func sendOnce(_ sql: String, _ values: [String?]) throws -> PostgresResult {
        try send {
            PostgresStrings.with(values) { values, count in
                PQsendQueryParams(raw, sql, count, nil, values, nil, nil, 0)
            }
        }
    }

    /// The types of a statement's values and columns, by their numbers (PostgreSQL's manual, `pg_type`).
    package func describe(_ sql: String) throws -> (parameters: [Int64], columns: [Int64]) {
        _ = try send { PQsendPrepare(raw, "", sql, 0, nil) }
        let shape = try send { PQsendDescribePrepared(raw, "") }
        return (shape.parameterTypes, shape.columnTypes)
    }

    /// Runs statements that have no values and give no rows, such as those of a schema.
    ///
    /// - Returns: The rows of the last one, where it gives some.
    @discardableResult
    package func script(_ sql: String) throws -> PostgresResult { try send { PQsendQuery(raw, sql) } }

    private func prepare(_ sql: String) throws -> String {
        if let name = prepared[sql] { return name }
        let name = "s\(prepared.count)"
        _ = try send { PQsendPrepare(raw, name, sql, 0, nil) }
        prepared[sql] = name
        return name
    }

    private func send(_ send: () -> Int32) throws -> PostgresResult {
        guard send() == 1 else { throw lost }
        try flush()
        return try results()
    }

    /// Brings what libpq holds back to the server.
    func flush() throws {
        while true {
            switch PQflush(raw) {
            case 0: return
            case 1:
                try wait(for: Int16(POLLOUT) | Int16(POLLIN))
                guard PQconsumeInput(raw) == 1 else { throw lost }
            default: throw lost
            }
        }
    }

    /// Waits for all results of what was sent.
    ///
    /// - Returns: The last one.
    func results() throws -> PostgresResult {
        var last: PostgresResult?
        var fault: PostgresFault?
        while true {
            while PQisBusy(raw) == 1 {
                try wait(for: Int16(POLLIN))
                guard PQconsumeInput(raw) == 1 else { throw lost }
            }
            guard let next = PQgetResult(raw).map({ PostgresResult($0) }) else { break }
            last = next
            if next.status == PGRES_COPY_IN { break }
            if next.status == PGRES_FATAL_ERROR, fault == nil {
                fault = next.code.map { PostgresFault(code: $0, message: next.message) }
            }
        }
        if isBroken { throw lost }
        if let fault { throw fault }
        guard let last else { throw lost }
        return last
    }
}
