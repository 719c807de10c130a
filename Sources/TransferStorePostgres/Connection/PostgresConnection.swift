import CTransferPostgres
import Glibc
package import TransferCore
import TransferEventLoop

/// One connection to a PostgreSQL database. It blocks the calling thread, which is the store's worker, until the server
/// answers or another thread abandons the connection.
///
/// The socket never blocks. Each wait is a poll(2) of it and of an eventfd(2), so that a server that does not answer
/// holds no thread forever.
///
/// `@unchecked`: only ``abandon()`` is called from other threads, and uses the abandonment alone. All other functions
/// are called under the lock of ``PostgresDatabase``, or by the one thread of ``PostgresLeaseRenewal``.
package final class PostgresConnection: @unchecked Sendable {
    package static let connectTimeout = Duration.seconds(15)

    let raw: OpaquePointer
    private let abandonment: PostgresCancellation
    /// The end of all waits; `nil` where the kernel's own bounds of a connection are enough.
    package var limit: MonotonicTime?
    /// Whether the server is asked to give up statements that this process gives up. The end of a transaction must not be
    /// given up: it could take effect before a standby has it.
    var cancelsAtServer = false
    /// Whether a wait for an answer was stopped, so that the answer would be taken for that of the next statement.
    private var isOutOfStep = false
    /// The functions that are called in place of statements; `nil` for an owner of the queue's tables.
    package var calls: PostgresFunctionCalls?
    private var pipeline: PostgresPipeline
    /// The database's timeline, which changes when a standby is promoted; 0 for a standby.
    package internal(set) var timeline: Int64 = 0

    /// Connects to the first server that accepts the connection, and waits for it.
    ///
    /// - Parameters:
    ///   - abandonment: The signal that ends the waits for the connection and for its answers.
    ///   - names: The resolver of the servers' names.
    ///   - timeout: The longest time for the connection.
    /// - Throws: `TransferError`.
    package init(
        _ address: PostgresAddress, _ abandonment: PostgresCancellation = PostgresCancellation(),
        names: PostgresNames = PostgresNames(), within timeout: Duration = connectTimeout
    ) throws {
        self.abandonment = abandonment
        let search = PostgresServerSearch(address: address, abandonment: abandonment, names: names)
        raw = try search.connect(until: .now + timeout)
        pipeline = PostgresPipeline(raw)
    }

    /// Connects another time, for a process that was connected before. A refusal for good at the start, such as that of a
    /// password, may pass here: an administrator is at work, and what was begun is worth a wait.
    convenience init(
        again address: PostgresAddress, _ abandonment: PostgresCancellation, names: PostgresNames,
        within timeout: Duration
    ) throws {
        do {
            try self.init(address, abandonment, names: names, within: timeout)
        } catch var error as TransferError where PostgresFault.isLasting(error) {
            error.isTransient = true
            throw error
        }
    }

    deinit { PQfinish(raw) }

    /// Ends present and later waits. May be called by any thread.
    package func abandon() { abandonment.tell() }

    /// Whether the connection can no longer be used.
    package var isBroken: Bool { isOutOfStep || abandonment.isReported || PQstatus(raw) == CONNECTION_BAD }

    /// The name of the login.
    var login: String { String(cString: PQuser(raw)) }

    /// libpq's last message, on one line.
    var words: String { Self.words(raw) }

    static func words(_ raw: OpaquePointer) -> String {
        String(cString: PQerrorMessage(raw)).split(whereSeparator: \.isNewline)
            .map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
    }

    /// - Throws: `TransferError` when the time is over, or the connection was abandoned. It is broken then.
    func wait(for events: Int16, until limit: MonotonicTime? = nil) throws {
        let isReady: Bool
        do {
            isReady = try look(for: events, until: limit ?? self.limit)
        } catch {
            giveUp()
            throw error
        }
        guard isReady else {
            giveUp()
            throw TransferError(.timedOut, "the queue's database does not answer", isTransient: true)
        }
    }

    /// Notes that an answer is not waited for, after which the connection is broken.
    private func giveUp() {
        isOutOfStep = true
        if cancelsAtServer { PostgresCancelRequest.send(for: raw) }
    }

    /// - Returns: Whether the socket is ready before the time is over.
    /// - Throws: `TransferError` when the connection was abandoned.
    func look(for events: Int16, until limit: MonotonicTime?) throws -> Bool {
        try abandonment.wait(for: PQsocket(raw), events, until: limit)
    }

    /// The error of a connection that is lost, or whose server sent a message that fits no question.
    var lost: TransferError {
        let reason = words
        return TransferError(
            .connectionLost,
            "the connection to the queue's database is lost\(reason.isEmpty ? "" : ": \(reason)")", isTransient: true)
    }

    // MARK: Statements

    /// Runs one statement, prepared once in this connection, and those that were posted before it.
    ///
    /// - Throws: ``PostgresFault``; `TransferError` where the connection is lost, and where the login has no right to
    ///   the statement.
    @discardableResult
    package func run(_ statement: PostgresStatement, _ values: [(any PostgresValue)?] = []) throws -> PostgresResult {
        try post(statement, values).rows()
    }

    /// Sends one statement together with the next one whose answer is waited for. A statement whose answer is not
    /// needed at once costs no round trip.
    ///
    /// - Parameter explain: The function that puts a fault of this statement in other words.
    /// - Throws: `TransferError` where the connection is lost. Other errors are thrown by the wait for the answer.
    @discardableResult
    package func post(
        _ statement: PostgresStatement, _ values: [(any PostgresValue)?] = [],
        explain: @escaping (PostgresFault) -> any Error = { $0 }
    ) throws -> PostgresAnswer {
        let texts = values.map { $0?.postgresText }
        guard let calls, let call = calls.text(statement, values: values.count) else {
            return try post(statement.sql, texts, once: statement.isPlannedAnew, explain)
        }
        return try post(call, texts, once: false) { fault in
            let own = explain(fault)
            return own is PostgresFault ? calls.explained(fault, statement) : own
        }
    }

    /// - Parameter once: Whether the server plans the statement for these values alone.
    private func post(
        _ sql: String, _ values: [String?], once: Bool, _ explain: @escaping (PostgresFault) -> any Error
    ) throws -> PostgresAnswer {
        guard !isBroken else { throw lost }
        let answer = PostgresAnswer(self, explain: explain)
        let isSent = once ? pipeline.add(answer, once: sql, values) : pipeline.add(answer, prepared: sql, values)
        guard isSent else {
            isOutOfStep = true
            throw lost
        }
        return answer
    }

    /// Waits for the answers of all statements that were posted.
    ///
    /// - Throws: The error of the first that failed: none behind it was done.
    package func settle() throws {
        guard !pipeline.isEmpty else { return }
        do {
            guard pipeline.mark() else { throw lost }
            try flush()
        } catch {
            isOutOfStep = true
            throw error
        }
        do {
            try pipeline.collect({ try next() }, lost: { lost })
        } catch {
            // A server that did not answer in time is not asked again at once.
            if (error as? TransferError)?.code == .timedOut { throw error }
            // A server that shuts down sends a message of its own, which is not the reason for a statement that it did
            // not do.
            throw isBroken && PostgresFault.isUnavailable(error) ? lost : error
        }
    }

    /// Returns the types of a statement's values and columns, by their numbers (PostgreSQL's manual, `pg_type`).
    package func describe(_ sql: String) throws -> (parameters: [Int64], columns: [Int64]) {
        _ = try send { PQsendPrepare(raw, "", sql, 0, nil) }
        let shape = try send { PQsendDescribePrepared(raw, "") }
        return (shape.parameterTypes, shape.columnTypes)
    }

    /// Runs statements that have no values and give no rows, such as those of a schema.
    ///
    /// - Returns: The rows of the last statement, where it gives some.
    @discardableResult
    package func script(_ sql: String) throws -> PostgresResult { try send { PQsendQuery(raw, sql) } }

    private func send(_ send: () -> Int32) throws -> PostgresResult {
        try settle()
        guard pipeline.leave(), send() == 1 else { throw lost }
        try flush()
        return try results()
    }

    /// Sends the bytes that libpq still holds to the server.
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

    /// Waits for all results of the statements that were sent.
    ///
    /// - Returns: The last result.
    func results() throws -> PostgresResult {
        var last: PostgresResult?
        var fault: PostgresFault?
        while true {
            guard let result = try next() else { break }
            last = result
            if result.status == PGRES_COPY_IN { break }
            fault = fault ?? result.fault
        }
        if isBroken { throw lost }
        if let fault { throw fault }
        guard let last else { throw lost }
        return last
    }

    /// Waits for the next result.
    ///
    /// - Returns: `nil` at the end of a statement's results.
    private func next() throws -> PostgresResult? {
        while PQisBusy(raw) == 1 {
            try wait(for: Int16(POLLIN))
            guard PQconsumeInput(raw) == 1 else { throw lost }
        }
        return PQgetResult(raw).map { PostgresResult($0) }
    }
}
