import FoundationEssentials
package import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// A ``JobChange`` as a statement of SQLite. Only these statements set the state of jobs.
package struct JobUpdate: Sendable {
    /// The way in which an end gets its number.
    package enum EndNumber: Sendable {
        /// The number is passed with the job.
        case given
        /// All jobs get the next number; ``EndNumbers/number(_:)`` or the caller makes the numbers different.
        case next
    }

    /// The source of a parameter's value.
    private enum Parameter: Sendable {
        case given(JobColumn)
        /// One of the three numbers as which a wait is stored.
        case wait(Int)
        case state
        case now
        case condition(JobChange.Condition)
    }

    /// The assignments and conditions, without `UPDATE`.
    package let sql: String
    private let parameters: [Parameter]

    /// - Parameters:
    ///   - transition: The change that is made.
    ///   - guards: Whether the statement itself checks that the jobs are in a state from which the change leads. A
    ///     caller that already knows their states saves the check.
    ///   - also: Further assignments, to columns that only this store has.
    ///   - condition: The condition that selects the jobs, in SQL. Its parameters begin with the number that is
    ///     passed to it.
    ///   - returning: The columns that are read of the jobs.
    package init(
        _ transition: JobTransition, guards: Bool = true, endNumber: EndNumber = .next, also: String? = nil,
        returning: String? = nil, where condition: (Int) -> String
    ) {
        var rendering = Rendering(endNumber)
        let change = transition.change
        rendering.add(change)
        var clauses = rendering.clauses
        if let also { clauses.append(also) }
        let states = Self.states(change)
        let jobs = condition(rendering.parameters.count + 1)
        sql =
            "UPDATE job SET \(clauses.joined(separator: ", ")) WHERE \(guards ? "(\(jobs)) AND \(states)" : jobs)"
            + (returning.map { " RETURNING \($0)" } ?? "")
        parameters = rendering.parameters
    }

    /// Returns an assignment that sets only the state, where a condition holds. It is for a statement that also changes
    /// other columns, of more jobs.
    ///
    /// - Parameter condition: The condition, in SQL; `nil` where the job's state decides alone.
    package static func state(_ transition: JobTransition, when condition: String? = nil) -> String {
        var rendering = Rendering(.next)
        let also = condition.map { " AND \($0)" } ?? ""
        return
            "state = CASE WHEN \(states(transition.change))\(also) THEN \(rendering.state(transition.change.to)) ELSE state END"
    }

    /// Returns the condition for the states from which a change leads, in SQL. A single state is an equality, because
    /// partial indexes are found by it.
    private static func states(_ change: JobChange) -> String {
        if change.from.count == 1 { return "state = \(JobStates.list(change.from))" }
        return "state IN (\(JobStates.list(change.from)))"
    }

    /// The columns that have parameters, in the order of the parameters, of a change without conditions.
    package var columns: [String] {
        parameters.compactMap { parameter in
            switch parameter {
            case .given(let column): column.sqlite
            case .wait(let part): StoredWait.columns[part]
            case .state: JobColumn.state.sqlite
            case .now: JobColumn.ended.sqlite
            case .condition: nil
            }
        }
    }

    /// - Parameters:
    ///   - state: The new state, if it is passed with the job.
    ///   - given: The values of columns that are passed with the job.
    ///   - condition: The values of the condition's parameters.
    ///   - holds: The conditions that are passed with the job.
    package func arguments(
        state: JobState? = nil, _ condition: [(any DatabaseValueConvertible)?],
        given: (JobColumn) throws -> JobValue = { _ in .null },
        holds: (JobChange.Condition) -> Bool = { _ in true }
    ) rethrows -> StatementArguments {
        var values: [(any DatabaseValueConvertible)?] = []
        values.reserveCapacity(parameters.count + condition.count)
        for parameter in parameters {
            switch parameter {
            case .wait(0): values += Self.parts(of: try given(.notBefore))
            case .wait: continue
            case .given(let column): values.append(try given(column).sqlite)
            case .state: values.append(state?.rawValue)
            case .now: values.append(WallClock.milliseconds)
            case .condition(let condition): values.append(holds(condition))
            }
        }
        return StatementArguments(values + condition)
    }

    /// Binds the values of the parameters, none of which is a wait.
    package func bind(to values: inout BoundStatement.Values, now: Int64, given: (JobColumn) -> JobValue) {
        for parameter in parameters {
            switch parameter {
            case .given(let column): values.add(given(column))
            case .state, .wait, .condition: values.add(nil as Int64?)
            case .now: values.add(now)
            }
        }
    }

    private static func parts(of wait: JobValue) -> [(any DatabaseValueConvertible)?] {
        guard case .wait(let end) = wait else { return [nil as Int64?, nil as Int64?, nil as Int64?] }
        let wait = StoredWait(until: end)
        return [wait.wall, wait.boot, wait.length]
    }

    /// The assignments of a change, with the parameters that they take.
    private struct Rendering {
        let endNumber: EndNumber
        var clauses: [String] = []
        var parameters: [Parameter] = []
        /// The parameters of values that are passed with the job.
        private var places: [JobColumn: String] = [:]

        init(_ endNumber: EndNumber) { self.endNumber = endNumber }

        private mutating func take(_ parameter: Parameter) -> String {
            parameters.append(parameter)
            return "?\(parameters.count)"
        }

        mutating func state(_ target: JobChange.Target) -> String {
            switch target {
            case .state(let state): String(state.rawValue)
            case .given: take(.state)
            case .readyOrBlocked: "CASE WHEN needsLeft > 0 THEN \(JobStates.blocked) ELSE \(JobStates.queued) END"
            }
        }

        mutating func add(_ change: JobChange) {
            clauses.append("state = \(state(change.to))")
            for assignment in change.columns {
                if assignment.column == .notBefore {
                    addWait(assignment.value)
                } else {
                    clauses.append("\(assignment.column.sqlite) = \(expression(assignment))")
                }
            }
        }

        private mutating func addWait(_ value: JobChange.Value) {
            for (part, column) in StoredWait.columns.enumerated() {
                let expression =
                    switch value {
                    case .given: take(.wait(part))
                    case .kept(let condition): "CASE WHEN \(take(.condition(condition))) THEN \(column) END"
                    default: "NULL"
                    }
                clauses.append("\(column) = \(expression)")
            }
        }

        private mutating func expression(_ assignment: JobChange.Assignment) -> String {
            let name = assignment.column.sqlite
            switch assignment.value {
            case .null: return "NULL"
            case .number(let number): return String(number)
            case .flag(let flag): return flag ? "1" : "0"
            case .now: return take(.now)
            case .nowUnlessInterrupted:
                return "CASE WHEN wasInterrupted AND \(name) NOT NULL THEN \(name) ELSE \(take(.now)) END"
            case .given: return given(assignment.column)
            case .givenOrKept: return "ifnull(\(given(assignment.column)), \(name))"
            case .givenOrKeptForSameFile:
                let (size, modified) = (places[.size] ?? "NULL", places[.modified] ?? "NULL")
                return
                    "ifnull(\(given(assignment.column)), CASE WHEN size IS \(size) AND modified IS \(modified) THEN \(name) END)"
            case .kept(let condition):
                let neutral = JobChange.Assignment(column: assignment.column, value: assignment.column.neutral)
                return "CASE WHEN \(take(.condition(condition))) THEN \(name) ELSE \(expression(neutral)) END"
            case .keptIfItContinues: return "CASE WHEN canGoOn(\(name)) THEN \(name) END"
            case .nextEndNumber:
                switch endNumber {
                case .given: return given(assignment.column)
                case .next: return "(SELECT value FROM counter WHERE name = 'end') + 1"
                }
            }
        }

        private mutating func given(_ column: JobColumn) -> String {
            let place = take(.given(column))
            places[column] = place
            return place
        }
    }
}

extension StoredWait {
    /// The columns of a job's wait.
    package static let columns = ["notBefore", "due", "delay"]
}

extension JobValue {
    /// A wait has no single value, because it is three columns.
    package var sqlite: (any DatabaseValueConvertible)? {
        switch self {
        case .null, .wait: nil
        case .number(let number): number
        case .flag(let flag): flag
        case .real(let real): real
        case .text(let text): text
        case .bytes(let bytes): Data(bytes)
        }
    }
}

extension BoundStatement.Values {
    package mutating func add(_ value: JobValue) {
        switch value {
        case .null, .wait: add(nil as Int64?)
        case .number(let number): add(number)
        case .flag(let flag): add(flag)
        case .real(let real): add(real)
        case .text(let text): add(text)
        case .bytes(let bytes): add(blob: bytes)
        }
    }
}
