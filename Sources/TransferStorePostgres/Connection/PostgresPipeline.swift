import CTransferPostgres

/// Statements that are sent together. The server does one after the other, and their answers come back within one round
/// trip (PostgreSQL's manual, "Pipeline Mode"). After a statement that fails, it skips those behind it.
struct PostgresPipeline {
    private enum Step {
        case preparation(of: String, for: PostgresAnswer)
        case statement(PostgresAnswer)

        var answer: PostgresAnswer {
            switch self {
            case .preparation(_, let answer), .statement(let answer): answer
            }
        }
    }

    private let raw: OpaquePointer
    private var steps: [Step] = []
    /// The names of the statements that the server has prepared, by their text.
    private var prepared: [String: String] = [:]
    private var preparations = 0

    init(_ raw: OpaquePointer) { self.raw = raw }

    var isEmpty: Bool { steps.isEmpty }

    // MARK: There

    /// Appends a statement that is prepared once in this connection.
    ///
    /// - Returns: `false` where the connection is lost.
    mutating func add(_ answer: PostgresAnswer, prepared sql: String, _ values: [String?]) -> Bool {
        guard isOpen, let name = name(of: sql, for: answer) else { return false }
        let sent = PostgresStrings.with(values) { values, count in
            PQsendQueryPrepared(raw, name, count, values, nil, nil, 0)
        }
        steps.append(.statement(answer))
        return sent == 1
    }

    /// Appends a statement that the server plans for this one time.
    ///
    /// - Returns: `false` where the connection is lost.
    mutating func add(_ answer: PostgresAnswer, once sql: String, _ values: [String?]) -> Bool {
        guard isOpen else { return false }
        let sent = PostgresStrings.with(values) { values, count in
            PQsendQueryParams(raw, sql, count, nil, values, nil, nil, 0)
        }
        steps.append(.statement(answer))
        return sent == 1
    }

    private var isOpen: Bool { PQpipelineStatus(raw) != PQ_PIPELINE_OFF || PQenterPipelineMode(raw) == 1 }

    private mutating func name(of sql: String, for answer: PostgresAnswer) -> String? {
        if let name = prepared[sql] { return name }
        // A name whose preparation failed may be in use or not, so that none is used twice.
        let name = "s\(preparations)"
        preparations += 1
        steps.append(.preparation(of: sql, for: answer))
        guard PQsendPrepare(raw, name, sql, 0, nil) == 1 else { return nil }
        prepared[sql] = name
        return name
    }

    /// Marks the end of the statements sent so far: a later one is done even if one of them fails.
    func mark() -> Bool { PQpipelineSync(raw) == 1 }

    /// Leaves the pipeline mode, in which neither COPY nor several statements in one text are possible. No statement
    /// may be on its way.
    func leave() -> Bool { PQpipelineStatus(raw) == PQ_PIPELINE_OFF || PQexitPipelineMode(raw) == 1 }

    // MARK: Back

    /// Gives the results to the answers, up to the mark.
    ///
    /// - Parameters:
    ///   - next: The function that returns the next result; `nil` at the end of a statement's.
    ///   - lost: The error of a connection that is lost.
    /// - Throws: The error of the first statement that failed, which those behind it get, too.
    mutating func collect(_ next: () throws -> PostgresResult?, lost: () -> any Error) throws {
        var (left, failure) = (exchange(&steps, with: [])[...], nil as (any Error)?)
        do {
            while let step = left.first {
                let result = try Self.last(next, lost)
                left.removeFirst()
                if failure == nil, let fault = result.fault { failure = step.answer.explain(fault) }
                finish(step, failure.map { .failure($0) } ?? .success(result))
            }
            guard try next()?.status == PGRES_PIPELINE_SYNC else { throw lost() }
        } catch {
            for step in left { finish(step, .failure(failure ?? error)) }
            throw failure ?? error
        }
        if let failure { throw failure }
    }

    private mutating func finish(_ step: Step, _ outcome: Result<PostgresResult, any Error>) {
        switch (step, outcome) {
        case (.statement(let answer), _): answer.came(outcome)
        case (.preparation(let sql, _), .failure): prepared[sql] = nil
        case (.preparation, .success): break
        }
    }

    /// Returns the result of the next statement.
    private static func last(_ next: () throws -> PostgresResult?, _ lost: () -> any Error) throws -> PostgresResult {
        var last: PostgresResult?
        while let result = try next() { last = result }
        // Errors of libpq itself have no code.
        guard let last, last.status != PGRES_FATAL_ERROR || last.code != nil else { throw lost() }
        return last
    }
}
