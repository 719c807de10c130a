import Testing

@testable import TransferServer

/// The rule by which waiting jobs get another order.
@Suite struct TurnPlanTests {
    private static let names = Array("abcde")

    /// Returns a plan for the jobs a to e with these priorities, in the order in which they start.
    private static func plan(_ priorities: [Int]) -> TurnPlan {
        let turns = priorities.enumerated().map { TurnPlan.Turn(number: Int64($0), priority: $1) }
        return TurnPlan(turns.sorted { $0.precedes($1) })
    }

    private static func text(_ turns: [TurnPlan.Turn]) -> String { String(turns.map { names[Int($0.number)] }) }

    private static func numbers(_ text: String) -> [Int64] {
        text.compactMap { names.firstIndex(of: $0).map(Int64.init) }
    }

    @Test(arguments: [
        ("ab", true, 0, "abcde"), ("ba", true, 0, "abcde"), ("a", true, 0, "abcde"), ("de", false, 0, "abcde"),
        ("bc", true, 2, "bcade"), ("bc", false, 2, "adbce"), ("ac", true, 1, "acbde"), ("ce", false, 1, "abdce"),
        ("abcde", true, 0, "abcde"),
    ])
    func aBlockMovesByOneAndStopsAtTheEdge(_ jobs: String, _ forwards: Bool, _ changed: Int, _ order: String) {
        var plan = Self.plan([0, 0, 0, 0, 0])
        #expect(plan.step(Set(Self.numbers(jobs)), forwards: forwards) == changed)
        #expect(Self.text(plan.turns) == order && plan.changes.isEmpty == (changed == 0))
    }

    @Test(arguments: [
        ("ab", true, 0, "abcde"), ("ba", true, 2, "bacde"), ("ac", true, 1, "acbde"), ("e", true, 1, "eabcd"),
        ("de", false, 0, "abcde"), ("ae", false, 1, "bcdae"), ("b", false, 1, "acdeb"), ("abcde", true, 0, "abcde"),
    ])
    func jobsAreCountedWhereTheyMove(_ jobs: String, _ isFirst: Bool, _ changed: Int, _ order: String) {
        var plan = Self.plan([0, 0, 0, 0, 0])
        let turns = Self.numbers(jobs).map { TurnPlan.Turn(number: $0, priority: 0) }
        #expect((isFirst ? plan.putFirst(turns) : plan.putLast(turns)) == changed)
        #expect(Self.text(plan.turns) == order && plan.changes.isEmpty == (changed == 0))
    }

    /// The order that the priorities make is the order that was asked for, whatever the priorities were.
    @Test func thePrioritiesMakeTheOrder() {
        for code in 0..<243 {
            var rest = code
            let priorities = (0..<5).map { _ in
                defer { rest /= 3 }
                return rest % 3
            }
            for set in 1..<32 {
                var plans = Array(repeating: Self.plan(priorities), count: 4)
                let jobs = plans[0].turns.filter { set >> Int($0.number) & 1 == 1 }
                let numbers = Set(jobs.map(\.number))
                _ = plans[0].step(numbers, forwards: true)
                _ = plans[1].step(numbers, forwards: false)
                _ = plans[2].putFirst(Array(jobs.reversed()))
                _ = plans[3].putLast(Array(jobs.reversed()))
                for plan in plans {
                    #expect(plan.turns == plan.turns.sorted { $0.precedes($1) }, "\(priorities) \(set)")
                }
            }
        }
    }

    @Test func aJobOfMiddleRankChangesAsFewPrioritiesAsPossible() {
        var plan = Self.plan([0, 0, 0, 0, 0])
        _ = plan.step([0], forwards: false)
        #expect(plan.changes == [1: 1])
        plan = Self.plan([0, 0, 0, 0, 0])
        _ = plan.step([4], forwards: false)
        #expect(plan.changes.isEmpty)
    }
}
