import Testing

@testable import TransferCore

/// The rate of attempts: a default rule makes at most seven attempts in a minute, for any failures.
@Suite struct RetryRuleRateTests {
    enum Failure: CaseIterable, Sendable {
        case lost, busy, asksForNothing
    }

    private func error(_ failure: Failure) -> TransferError {
        switch failure {
        case .lost: TransferError(.connectionLost, "lost", isTransient: true)
        case .busy: TransferError(.httpStatus, "503", cause: .http(status: 503), isTransient: true)
        case .asksForNothing:
            TransferError(
                .httpStatus, "503", cause: .http(status: 503), isTransient: true, retryAfter: .zero)
        }
    }

    @Test(arguments: Failure.allCases, [0.0, 0.5, 0.999]) func aMinuteHasAtMostEightAttempts(
        _ failure: Failure, _ random: Double
    ) {
        let rule = RetryRule(limit: 1000)
        var (time, attempts, spent, waited) = (Duration.zero, 1, 0, Duration.zero)
        while true {
            switch rule.decide(
                error(failure), method: "GET", retriesSpent: spent, bodyLeft: false, waited: waited, random: random)
            {
            case .retry(let delay):
                spent += 1
                time += delay
            case .wait(let delay):
                waited += delay
                time += delay
            case .giveUp(let reason):
                Issue.record("\(reason)")
                return
            }
            guard time < .seconds(60) else { break }
            attempts += 1
        }
        // Waits that a server requests grow by the time that was waited, and so more slowly.
        #expect(attempts <= (failure == .asksForNothing ? 12 : 8))
    }
}
