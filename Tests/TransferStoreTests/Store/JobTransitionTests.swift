import Testing

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The table of a job's stored transitions, and the statements that are made from it.
@Suite struct JobTransitionTests {
    /// A step may also return a job to the states in which it waits or is paused.
    @Test(arguments: JobTransition.allCases) func aTransitionLeadsToAnAllowedState(_ transition: JobTransition) {
        let change = transition.change
        #expect(!change.from.isEmpty)
        for state in change.from {
            switch change.to {
            case .state(let next):
                // The job of a lost process, or a job that is done again, may already be queued.
                let isAllowed =
                    state.successors.contains(next) || state == next || Self.others[transition]?.contains(state) == true
                #expect(isAllowed, "\(state) → \(next)")
            case .readyOrBlocked:
                #expect(state.successors.isSuperset(of: [.queued]), "\(state) → ready")
            case .given where transition == .restage: break
            case .given where [.renew, .renewSame].contains(transition):
                #expect(state != .claimed && state != .cancelled)
            case .given: #expect(state == .claimed)
            }
        }
    }

    /// The ways that the table of states does not have. A job that waits for another one is blocked, and a job whose
    /// need failed is skipped, in whatever state it waits.
    private static let others: [JobTransition: Set<JobState>] = [.block: [.queued], .skip: [.queued, .waiting]]

    @Test(arguments: JobTransition.allCases) func aTransitionNamesEachColumnOnce(_ transition: JobTransition) {
        let columns = transition.change.columns.map(\.column)
        #expect(Set(columns).count == columns.count)
        #expect(!columns.contains(.state))
    }

    /// Only an end has a time and a number. A job that ends belongs to no process.
    @Test(arguments: JobTransition.allCases) func anEndHasATimeAndANumber(_ transition: JobTransition) {
        let change = transition.change
        let ends = if case .state(let state) = change.to { state.hasEnded } else { false }
        #expect(change.isEnd == ends)
        #expect(change.columns.contains { $0.column == .ended && $0.value == .now } == ends)
        if ends, change.from.contains(.claimed) {
            #expect(change.columns.contains { $0.column == .owner && $0.value == .null })
        }
    }

    @Test func everyFreshStartResetsTheSameColumns() {
        let fresh = JobTransition.allCases.filter { $0.change.isFreshStart }
        #expect(fresh == [.retry, .retryFailed, .wakeFailed, .renew, .renewSame, .revive, .redo])
        for transition in fresh {
            // A watched file may be another version now, whose server has nothing yet.
            let columns = transition.change.columns.filter { $0.value != .given && $0.column != .upload }
            #expect(columns.map(\.column) == JobColumn.forgottenByFreshStart)
        }
    }

    @Test func aVerbAppliesToTheStatesOfItsTransition() {
        for verb in QueueVerb.allCases { #expect(JobTransition(verb).change.from == verb.states) }
    }

    // MARK: SQLite's statements

    @Test func aStatementSetsTheColumnsOfTheChange() {
        let update = JobUpdate(.resume, returning: "id") { "batch = ?\($0)" }
        #expect(
            update.sql
                == "UPDATE job SET state = CASE WHEN needsLeft > 0 THEN 3 ELSE 0 END, notBefore = NULL, due = NULL, delay = NULL WHERE (batch = ?1) AND state = 4 RETURNING id"
        )
        let skip = JobUpdate(.skip) { "id = ?\($0)" }
        #expect(
            skip.sql
                == "UPDATE job SET state = 7, errorMessage = ?1, ended = ?2, endSequence = (SELECT value FROM counter WHERE name = 'end') + 1 WHERE (id = ?3) AND state IN (0, 2, 3, 4)"
        )
    }

    /// A wait has three parameters. The parameters of the condition follow all others.
    @Test func aConditionsParametersComeLast() {
        let step = JobUpdate(.step, guards: false) { "id = ?\($0)" }
        #expect(step.sql.hasPrefix("UPDATE job SET state = ?1, owner = NULL, isSending = 0, attempts = ?2"))
        #expect(step.sql.contains("notBefore = ?5, due = ?6, delay = ?7"))
        #expect(step.sql.hasSuffix(" WHERE id = ?\(step.columns.count + 1)"))
    }
}
