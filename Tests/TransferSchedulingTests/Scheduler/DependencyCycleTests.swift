import Testing

@testable import TransferScheduling

@Suite struct DependencyCycleTests {
    @Test func acceptsChainsDiamondsAndStrangers() {
        #expect(DependencyCycle.find([:]) == nil)
        #expect(DependencyCycle.find([1: [2], 2: [3]]) == nil)
        #expect(DependencyCycle.find([1: [2, 3], 2: [4], 3: [4], 4: []]) == nil)
        #expect(DependencyCycle.find([1: [2, 2, 2]]) == nil)
        #expect(DependencyCycle.find([5: [99]]) == nil)
    }

    @Test func findsAJobThatNeedsItself() {
        #expect(DependencyCycle.find([3: [3]]) == [3])
        #expect(DependencyCycle.find([1: [2], 2: [3], 3: [3]]) == [3])
    }

    @Test func namesTheCircleInOrderWithoutTheWayToIt() {
        let circle = DependencyCycle.find([1: [2], 2: [3], 3: [4], 4: [2]])
        #expect(circle == [2, 3, 4])
    }

    @Test func findsACircleBehindADiamond() {
        let edges: [Int64: [Int64]] = [1: [2, 3], 2: [4], 3: [4], 4: [5], 5: [3]]
        let circle = DependencyCycle.find(edges) ?? []
        #expect(Set(circle) == [3, 4, 5])
        for (job, next) in zip(circle, circle.dropFirst() + circle.prefix(1)) {
            #expect(edges[job]?.contains(next) == true)
        }
    }

    @Test func longChainsNeitherOverflowTheStackNorTakeLong() {
        var edges: [Int64: [Int64]] = [:]
        for job in 1..<Int64(100_000) { edges[job] = [job + 1] }
        #expect(DependencyCycle.find(edges) == nil)
        edges[100_000] = [1]
        #expect(DependencyCycle.find(edges)?.count == 100_000)
    }

    @Test func ladderOfDiamondsIsLinear() {
        // The graph has 2^5,000 paths from the first to the last job.
        var edges: [Int64: [Int64]] = [:]
        for step in 0..<Int64(5000) {
            edges[step * 3] = [step * 3 + 1, step * 3 + 2]
            edges[step * 3 + 1] = [step * 3 + 3]
            edges[step * 3 + 2] = [step * 3 + 3]
        }
        #expect(DependencyCycle.find(edges) == nil)
    }
}
