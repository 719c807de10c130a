import Testing
import TransferCore

@testable import TransferNetworking

@Suite("Authentication, as a table")
struct AuthenticationStateTests {
    typealias State = AuthenticationState<String, Int>

    /// The events in a readable form.
    enum Step: Sendable {
        /// An event before an attempt of this waiter, with the examined generation and whether it needs a refresh.
        case adapt(Int, examined: Int? = nil, needsRefresh: Bool = false)
        /// An event after a refusal.
        case retry(Int, examined: Int? = nil, needsRefresh: Bool = true)
        case refreshed(Int, String)
        case refreshFailed(Int)
        case set(String?)
        case advance(seconds: Int64)
    }

    struct Story: Sendable, CustomTestStringConvertible {
        let name: String
        var credential: String? = "a"
        var limit: RefreshLimit?
        /// The steps, and the answer of the state to each.
        let steps: [(Step, String)]
        let end: String?
        var testDescription: String { name }
    }

    static let stories: [Story] = [
        Story(
            name: "Without a credential nothing is adapted or retried.", credential: nil,
            steps: [(.adapt(1), "fail missingCredential"), (.retry(2), "fail missingCredential")], end: nil),
        Story(
            name: "A credential that is good goes on the request.",
            steps: [(.adapt(1), "examine a 0"), (.adapt(1, examined: 0), "proceed a")], end: "a"),
        Story(
            name: "One that is due is refreshed first, and those who come meanwhile wait unexamined.",
            steps: [
                (.adapt(1), "examine a 0"), (.adapt(1, examined: 0, needsRefresh: true), "refresh a 1"),
                (.adapt(2), "none"), (.adapt(3, examined: 0), "none"), (.refreshed(1, "b"), "release [1, 2, 3]"),
                (.adapt(1), "examine b 1"),
            ], end: "b"),
        Story(
            name: "A refused request that carried the credential has it refreshed.",
            steps: [
                (.retry(1), "examine a 0"), (.retry(1, examined: 0), "refresh a 1"),
                (.refreshed(1, "b"), "release [1]"),
            ], end: "b"),
        Story(
            name: "A refused request that carried an earlier one is retried at once.",
            steps: [(.retry(1), "examine a 0"), (.retry(1, examined: 0, needsRefresh: false), "proceed a")], end: "a"),
        Story(
            name: "A refused request with an earlier one is retried at once during a refresh too.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.retry(2), "examine a 0"),
                (.retry(2, examined: 0, needsRefresh: false), "proceed a"),
            ], end: "a"),
        Story(
            name: "Many refusals cause one refresh, and are released in their order with what waits to go out.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.retry(2, examined: 0), "none"), (.adapt(3), "none"),
                (.retry(4, examined: 0), "none"), (.refreshed(1, "b"), "release [1, 2, 3, 4]"),
            ], end: "b"),
        Story(
            name: "A failed refresh fails all who wait, and the credential stays.",
            steps: [
                (.adapt(1, examined: 0, needsRefresh: true), "refresh a 1"), (.retry(2, examined: 0), "none"),
                (.refreshFailed(1), "reject [1, 2] TestFailure()"), (.adapt(3), "examine a 0"),
            ], end: "a"),
        Story(
            name: "After a failed refresh the next one who needs it starts another.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.refreshFailed(1), "reject [1] TestFailure()"),
                (.retry(2, examined: 0), "refresh a 2"), (.refreshed(2, "b"), "release [2]"),
            ], end: "b"),
        Story(
            name: "A refresh ends once: what its authenticator says later does not count.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.refreshed(1, "b"), "release [1]"),
                (.refreshed(1, "c"), "none"), (.refreshFailed(1), "none"),
            ], end: "b"),
        Story(
            name: "A late word of an earlier refresh does not end the present one.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.refreshed(1, "b"), "release [1]"),
                (.retry(1, examined: 1), "refresh b 2"), (.refreshFailed(1), "none"), (.refreshed(1, "c"), "none"),
                (.refreshed(2, "d"), "release [1]"),
            ], end: "d"),
        Story(
            name: "A refresh that nobody began changes nothing.",
            steps: [(.refreshed(1, "x"), "none"), (.refreshFailed(0), "none")], end: "a"),
        Story(
            name: "What was found out about a credential that is gone is found out anew.",
            steps: [
                (.adapt(1), "examine a 0"), (.set("b"), "none"),
                (.adapt(1, examined: 0, needsRefresh: true), "examine b 1"), (.adapt(1, examined: 1), "proceed b"),
                (.retry(2), "examine b 1"), (.set("c"), "none"), (.retry(2, examined: 1), "examine c 2"),
            ], end: "c"),
        Story(
            name: "A credential that vanished while it was examined is missing.",
            steps: [
                (.adapt(1), "examine a 0"), (.set(nil), "none"), (.adapt(1, examined: 0), "fail missingCredential"),
            ],
            end: nil),
        Story(
            name: "What is set during a refresh stays, and what waits goes on waiting.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.set("x"), "none"), (.adapt(2), "none"),
                (.refreshed(1, "b"), "release [1, 2]"), (.adapt(2), "examine x 1"),
            ], end: "x"),
        Story(
            name: "Logging out during a refresh is not undone by it.",
            steps: [
                (.adapt(1, examined: 0, needsRefresh: true), "refresh a 1"), (.set(nil), "none"),
                (.retry(2), "fail missingCredential"), (.refreshed(1, "b"), "release [1]"),
                (.adapt(1), "fail missingCredential"),
            ], end: nil),
        Story(
            name: "A failed refresh fails who waits although another credential was set meanwhile.",
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.set("x"), "none"),
                (.refreshFailed(1), "reject [1] TestFailure()"),
            ], end: "x"),
        Story(
            name: "A new credential that is due as well is refreshed again.",
            steps: [
                (.adapt(1, examined: 0, needsRefresh: true), "refresh a 1"), (.refreshed(1, "b"), "release [1]"),
                (.adapt(1), "examine b 1"), (.adapt(1, examined: 1, needsRefresh: true), "refresh b 2"),
            ], end: "b"),
        Story(
            name: "More refreshes than the limit allows are refused until its time is over.",
            limit: RefreshLimit(interval: 30, attempts: 2),
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.refreshed(1, "b"), "release [1]"),
                (.advance(seconds: 10), ""),
                (.retry(1, examined: 1), "refresh b 2"), (.refreshFailed(2), "reject [1] TestFailure()"),
                (.advance(seconds: 20), ""), (.retry(1, examined: 1), "fail excessiveRefresh"),
                (.adapt(2, examined: 1, needsRefresh: true), "fail excessiveRefresh"),
                (.adapt(2, examined: 1), "proceed b"), (.advance(seconds: 1), ""),
                (.retry(1, examined: 1), "refresh b 3"), (.refreshed(3, "c"), "release [1]"),
                (.retry(1, examined: 2), "fail excessiveRefresh"),
            ], end: "c"),
        Story(
            name: "A limit of no attempts allows no refresh.", limit: RefreshLimit(interval: 30, attempts: 0),
            steps: [(.retry(1, examined: 0), "fail excessiveRefresh")], end: "a"),
        Story(
            name: "Those who wait for a refresh under way do not count as attempts.",
            limit: RefreshLimit(interval: 30, attempts: 1),
            steps: [
                (.retry(1, examined: 0), "refresh a 1"), (.retry(2, examined: 0), "none"), (.adapt(3), "none"),
                (.refreshed(1, "b"), "release [1, 2, 3]"),
            ], end: "b"),
    ]

    @Test(arguments: stories)
    func everyStoryGoesAsWritten(story: Story) {
        var state = State(credential: story.credential, limit: story.limit)
        var seconds: Int64 = 0
        for (index, (step, expected)) in story.steps.enumerated() {
            let event: State.Event
            switch step {
            case .advance(let span):
                seconds += span
                continue
            case .adapt(let waiter, let generation, let needsRefresh):
                event = .adaptationAsked(waiter, generation.map { .init(generation: $0, needsRefresh: needsRefresh) })
            case .retry(let waiter, let generation, let needsRefresh):
                event = .retryAsked(waiter, generation.map { .init(generation: $0, needsRefresh: needsRefresh) })
            case .refreshed(let number, let credential):
                event = .refreshEnded(number: number, .success(credential))
            case .refreshFailed(let number): event = .refreshEnded(number: number, .failure(TestFailure()))
            case .set(let credential): event = .credentialSet(credential)
            }
            let action = state.handle(event, now: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
            #expect(Self.text(action) == expected, "step \(index)")
        }
        #expect(state.credential == story.end)
    }

    private static func text(_ action: State.Action) -> String {
        switch action {
        case .none: "none"
        case .examine(let credential, let generation): "examine \(credential) \(generation)"
        case .proceed(let credential): "proceed \(credential)"
        case .fail(let error): "fail \(error)"
        case .refresh(let credential, let number): "refresh \(credential) \(number)"
        case .release(let waiters): "release \(waiters)"
        case .reject(let waiters, let error): "reject \(waiters) \(error)"
        }
    }

    @Test func theWindowSlidesOverTheLastRefreshes() {
        var limit = RefreshLimit(interval: 30, attempts: 2)
        let admitted = [0, 20, 30, 31, 50, 51, 61, 62].filter { second in
            limit.admits(at: MonotonicTime(nanoseconds: second * 1_000_000_000))
        }
        // An admission needs fewer than two other admissions in the thirty seconds before it.
        #expect(admitted == [0, 20, 31, 51, 62])
    }
}
