import TransferCore
package import TransferJobs
package import TransferStore

/// A ``/TransferStore/JobChange`` as a statement of PostgreSQL. Only these statements set the state of jobs.
package struct PostgresJobUpdate: Sendable {
    package let sql: String
    /// The columns whose values are parameters, in the order of the parameters; ``JobColumn/state`` stands for the
    /// state.
    private let givens: [JobColumn]

    /// - Parameters:
    ///   - transition: The change that is made.
    ///   - guards: Whether the statement itself checks that the jobs are in a state from which the change leads. A
    ///     caller that has locked the rows, and so knows their states, saves the check.
    ///   - endNumber: The number of an end, in SQL. Its parameters begin with the number that is passed to it, and
    ///     are followed by those of the condition.
    ///   - expressions: The values that are columns of the source, in SQL, and not parameters.
    ///   - conditions: The conditions that are passed with the job, in SQL.
    ///   - state: The state, in SQL, where the change does not determine it alone.
    ///   - also: Further assignments, to columns that only this store has.
    ///   - source: The text after `FROM`, with parameters as in the condition.
    ///   - returning: The columns that are read of the jobs.
    ///   - condition: The condition that selects the jobs, in SQL. Its parameters begin with the number that is
    ///     passed to it.
    package init(
        _ transition: JobTransition, guards: Bool = true, endNumber: (Int) -> String = { _ in "NULL" },
        expressions: [JobColumn: String] = [:], conditions: [JobChange.Condition: String] = [:],
        state: (String) -> String = { $0 },
        also: (Int) -> [String] = { _ in [] },
        from source: ((Int) -> String)? = nil, returning: String? = nil, where condition: (Int) -> String
    ) {
        let change = transition.change
        var rendering = Rendering(expressions: expressions, conditions: conditions)
        let target = rendering.state(change)
        rendering.add(change, state: target)
        // The numbers of later parameters are known once all given ones are numbered.
        let next = rendering.givens.count + 1
        var clauses = ["state = \(state(target))"]
        clauses += rendering.clauses.map { $0 == Rendering.endNumber ? "end_number = \(endNumber(next))" : $0 }
        clauses += also(next)
        let jobs = condition(next)
        let states = Self.states(change)
        sql =
            "UPDATE job SET \(clauses.joined(separator: ", "))" + (source.map { " FROM \($0(next))" } ?? "")
            + " WHERE \(guards ? "(\(jobs)) AND \(states)" : jobs)" + (returning.map { " RETURNING \($0)" } ?? "")
        givens = rendering.givens
    }

    /// Returns the condition for the states from which a change leads, in SQL. A single state is an equality, because
    /// partial indexes are found by it.
    private static func states(_ change: JobChange) -> String {
        if change.from.count == 1 { return "job.state = \(JobStates.list(change.from))" }
        return "job.state IN (\(JobStates.list(change.from)))"
    }

    /// Returns an assignment that sets only the state, where a condition holds. It is for a statement that also changes
    /// other columns, of more jobs.
    ///
    /// - Parameter condition: The condition, in SQL; `nil` where the job's state decides alone.
    package static func state(_ transition: JobTransition, when condition: String? = nil) -> String {
        var rendering = Rendering()
        let change = transition.change
        let also = condition.map { " AND \($0)" } ?? ""
        return
            "state = CASE WHEN \(states(change))\(also) THEN \(rendering.state(change)) ELSE job.state END"
    }

    /// - Parameters:
    ///   - state: The state, if it is passed with the job.
    ///   - more: The values of the other parameters.
    ///   - given: The values of columns that are passed with the job.
    package func values(
        state: JobState? = nil, _ more: [(any PostgresValue)?], given: (JobColumn) throws -> JobValue = { _ in .null }
    ) rethrows -> [(any PostgresValue)?] {
        try givens.map { $0 == .state ? state?.rawValue : try given($0) } + more
    }

    private struct Rendering {
        static let endNumber = "end_number"

        let expressions: [JobColumn: String]
        let conditions: [JobChange.Condition: String]
        var clauses: [String] = []
        var givens: [JobColumn] = []
        private var places: [JobColumn: String] = [:]

        init(expressions: [JobColumn: String] = [:], conditions: [JobChange.Condition: String] = [:]) {
            self.expressions = expressions
            self.conditions = conditions
        }

        private mutating func given(_ column: JobColumn) -> String {
            if let expression = expressions[column] { return expression }
            givens.append(column)
            let place = "$\(givens.count)"
            places[column] = place
            return place
        }

        mutating func state(_ change: JobChange) -> String {
            switch change.to {
            case .state(let state): String(state.rawValue)
            case .given: given(.state)
            case .readyOrBlocked: "CASE WHEN needs_left > 0 THEN \(JobStates.blocked) ELSE \(JobStates.queued) END"
            }
        }

        mutating func add(_ change: JobChange, state: String) {
            for assignment in change.columns {
                switch assignment.column {
                case .upload: addUpload(assignment.value)
                default: clauses.append(clause(assignment))
                }
            }
            // Only cancelled jobs have the time at which a worker asks the server to forget an upload.
            if change.to == .state(.cancelled) {
                clauses.append("drop_after = CASE WHEN upload_goes_on THEN \(PostgresClock.now) END")
            } else if change.from.contains(.cancelled) {
                let isKept = change.to == .given
                clauses.append(
                    "drop_after = \(isKept ? "CASE WHEN \(state) = \(JobStates.cancelled) THEN job.drop_after END" : "NULL")"
                )
            }
            // A request to the process that had the job before does not concern the next one.
            if change.to == .state(.claimed) { clauses.append("asked = NULL") }
        }

        private mutating func addUpload(_ value: JobChange.Value) {
            switch value {
            case .keptIfItContinues:
                clauses += [
                    "upload = CASE WHEN upload_goes_on THEN upload END",
                    "upload_is_held = upload_goes_on AND upload_is_held",
                ]
            case .kept(let condition):
                let holds = conditions[condition] ?? "false"
                clauses.append("upload = CASE WHEN \(holds) THEN job.upload END")
                clauses += ["upload_goes_on", "upload_is_held"].map { "\($0) = job.\($0) AND (\(holds))" }
            default: clauses += ["upload = NULL", "upload_goes_on = false", "upload_is_held = false"]
            }
        }

        private func literal(_ value: JobChange.Value) -> String {
            switch value {
            case .number(let number): String(number)
            case .flag(let flag): String(flag)
            default: "NULL"
            }
        }

        private mutating func clause(_ assignment: JobChange.Assignment) -> String {
            let name = assignment.column.rawValue
            switch assignment.value {
            case .nextEndNumber: return Self.endNumber
            case .null, .number, .flag: return "\(name) = \(literal(assignment.value))"
            case .now: return "\(name) = \(PostgresClock.now)"
            case .nowUnlessInterrupted:
                return
                    "\(name) = CASE WHEN was_interrupted AND \(name) IS NOT NULL THEN \(name) ELSE \(PostgresClock.now) END"
            case .given:
                let place = given(assignment.column)
                return "\(name) = \(assignment.column.kind == .wait ? "\(PostgresClock.now) + \(place)" : place)"
            case .givenOrKept: return "\(name) = coalesce(\(given(assignment.column)), job.\(name))"
            case .givenOrKeptForSameFile:
                let (size, modified) = (places[.size] ?? "NULL", places[.modified] ?? "NULL")
                return
                    "\(name) = coalesce(\(given(assignment.column)), CASE WHEN size IS NOT DISTINCT FROM \(size) AND modified IS NOT DISTINCT FROM \(modified) THEN \(name) END)"
            case .kept(let condition):
                let neutral = literal(assignment.column.neutral)
                return "\(name) = CASE WHEN \(conditions[condition] ?? "false") THEN job.\(name) ELSE \(neutral) END"
            case .keptIfItContinues: return "\(name) = job.\(name)"
            }
        }
    }
}

extension JobColumn {
    /// Returns a statement that sets columns of one job, none of them its state. Its parameters are the values, and the
    /// job's number.
    static func update(_ columns: [JobColumn]) -> String {
        let clauses = columns.enumerated().map { "\($1.rawValue) = $\($0 + 1)" }
        return "UPDATE job SET \(clauses.joined(separator: ", ")) WHERE id = $\(columns.count + 1)"
    }
}

extension JobValue: PostgresValue {
    package var postgresText: String? {
        switch self {
        case .null: nil
        case .number(let number): number.postgresText
        case .flag(let flag): flag.postgresText
        case .real(let real): real.postgresText
        case .text(let text): text
        case .bytes(let bytes): PostgresBytes(bytes).postgresText
        case .wait(let end): PostgresClock.wait(until: end).postgresText
        }
    }
}
