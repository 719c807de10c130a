import Testing
import TransferCore

@testable import TransferEngine

/// A simulated connection over a path with an outage, sampled four times a second.
private struct Line {
    var state = PathState(began: MonotonicTime(nanoseconds: 0))
    var awaits = PathState.Awaited.body
    /// The range of seconds in which packets are lost.
    var hole: Range<Double> = 0..<0
    /// The times at which data arrives outside the outage.
    var data: (Double) -> Bool = { _ in true }
    /// Whether the connection has bytes in flight, which are not acknowledged during the outage.
    var sends = false
    /// The last time at which other connections received an answer.
    var others: (Double) -> Double? = { _ in nil }
    var lastData = 0.0
    var lastHeard = 0.0
    var received: Int64 = 0
    private(set) var questions = 0
    private(set) var bounds: [Duration] = []
    private(set) var wasUnbound = false

    /// - Returns: The first loss, and its time.
    mutating func run(_ seconds: Double) -> (loss: PathState.Loss, at: Double)? {
        for step in 1...Int(seconds * 4) {
            let time = Double(step) / 4
            let passes = !hole.contains(time)
            if passes, data(time) {
                (lastData, lastHeard) = (time, time)
                received += 1000
            }
            if passes, sends { lastHeard = time }
            var facts = PathState.Facts()
            facts.unacknowledged = sends && !passes ? 10 : 0
            facts.backoff = passes ? 0 : 3
            facts.roundTrip = .milliseconds(50)
            facts.sinceData = .seconds(time - lastData)
            facts.sinceAcknowledgement = .seconds(time - lastHeard)
            facts.received = received
            let now = MonotonicTime(nanoseconds: Int64(time * 1e9))
            let heard = others(time).map { MonotonicTime(nanoseconds: Int64($0 * 1e9)) }
            let verdict = state.look(facts, awaits: awaits, others: heard, now: now)
            if verdict.asks {
                questions += 1
                if passes { lastHeard = time + 0.05 }
            }
            if let bound = verdict.bound { bounds.append(bound) }
            if verdict.unbinds { wasUnbound = true }
            if let loss = verdict.loss { return (loss, time) }
        }
        return nil
    }
}

@Suite struct PathStateTests {
    @Test func anActiveConnectionIsNotProbed() {
        var line = Line()
        #expect(line.run(60) == nil)
        #expect(line.questions == 0)
    }

    @Test(arguments: [3.0, 10, 40, 120])
    func aReaderGivesUpSoonAfterAnOutageIfItsServerStaysSilent(_ length: Double) throws {
        var line = Line(hole: 5..<5 + length, data: { $0 < 5 })
        let found = line.run(length + 20)
        let end = try #require(found)
        #expect(end.loss == .stale)
        #expect(end.at > 5 + length && end.at <= 5 + length + 1.25)
    }

    @Test func aReaderStaysIfDataFollowsTheOutage() {
        var line = Line(hole: 5..<15)
        #expect(line.run(60) == nil)
    }

    /// The first bytes arrive with the answer to a probe, or right after it.
    @Test func aSlowServerIsKeptAndProbedLessAndLess() {
        var line = Line(awaits: .answer, data: { _ in false })
        #expect(line.run(300) == nil)
        #expect(line.questions > 10 && line.questions <= 65)
    }

    @Test func aSenderRetransmitsOnceASecondDuringAnOutageOnly() {
        var line = Line(awaits: .answer, hole: 5..<45, data: { _ in false }, sends: true)
        #expect(line.run(44) == nil)
        #expect(!line.bounds.isEmpty && line.bounds.allSatisfy { $0 == .seconds(1) })
        #expect(!line.wasUnbound)
        line.data = { _ in true }
        line.hole = 0..<0
        #expect(line.run(5) == nil)
        #expect(line.wasUnbound)
    }

    @Test func aConnectionIsDeadOnceOnlyAnotherOneIsAnswered() throws {
        var line = Line(hole: 5..<1000, data: { $0 < 5 }, others: { $0 > 6 ? $0 : nil })
        let found = line.run(60)
        let end = try #require(found)
        #expect(end.loss == .dead)
        #expect(end.at <= 12)
    }

    @Test func anOutageOfAllConnectionsKillsNone() {
        var line = Line(hole: 5..<1000, data: { $0 < 5 }, others: { min($0, 5.05) })
        #expect(line.run(300) == nil)
        #expect(line.state.isInHole)
    }

    /// Large segments are lost, and answers to probes arrive.
    @Test(arguments: [(PathState.Awaited.body, true), (.handshake, true), (.answer, false), (.nothing, false)])
    func aPeerThatAnswersWithoutDataIsStuckOnlyAfterItsBeginning(_ awaits: PathState.Awaited, _ isStuck: Bool) {
        var line = Line(awaits: awaits, data: { $0 < 5 })
        let end = line.run(60)
        #expect((end?.loss == .stuck) == isStuck)
        #expect(end.map { $0.at >= 5 + 6 && $0.at < 5 + 20 } ?? true)
    }

    @Test func aSuspendedExchangeIsNotProbed() {
        var line = Line(awaits: .nothing, hole: 5..<10, data: { _ in false })
        #expect(line.run(60) == nil)
        #expect(line.questions == 0)
    }
}
