import Testing

@testable import TransferNetworking

@Suite("The life of a request, as a table")
struct RequestLifecycleTests {
    typealias Life = RequestLifecycle
    typealias Event = Life.Event
    typealias State = Life.State

    /// The events that lead from a new request to each state.
    static let paths: [(state: State, events: [Event])] = [
        (.initialized, []),
        (.resumed(.preparing), [.resume]),
        (.resumed(.transferring), [.resume, .prepared]),
        (.resumed(.deciding), [.resume, .prepared, .attemptEnded(failed: true)]),
        (.resumed(.waitingToRetry), [.resume, .prepared, .attemptEnded(failed: true), .retryDecided(true)]),
        (.resumed(.settling), [.resume, .prepared, .attemptEnded(failed: false)]),
        (.suspended(.notStarted), [.suspend]),
        (.suspended(.preparing), [.resume, .suspend]),
        (.suspended(.prepared), [.resume, .suspend, .prepared]),
        (.suspended(.transferring), [.resume, .prepared, .suspend]),
        (.suspended(.deciding), [.resume, .prepared, .attemptEnded(failed: true), .suspend]),
        (
            .suspended(.waitingToRetry),
            [.resume, .prepared, .attemptEnded(failed: true), .retryDecided(true), .suspend]
        ),
        (
            .suspended(.retryDue),
            [.resume, .prepared, .attemptEnded(failed: true), .retryDecided(true), .suspend, .retryDue]
        ),
        (.suspended(.settling), [.resume, .prepared, .attemptEnded(failed: false), .suspend]),
        (.cancelled(.stopping), [.resume, .prepared, .cancel]),
        (.cancelled(.settling), [.cancel]),
        (.cancelled(.over), [.cancel, .settled(hasMore: false)]),
        (.finished, [.resume, .prepared, .attemptEnded(failed: false), .settled(hasMore: false)]),
    ]

    static func life(in state: State) -> Life {
        var life = Life()
        for event in paths.first(where: { $0.state == state })?.events ?? [] { _ = life.handle(event) }
        return life
    }

    @Test(arguments: paths.map(\.state))
    func everyStateIsReachedByItsPath(state: State) {
        #expect(Self.life(in: state).state == state)
    }

    struct Row: Sendable {
        let from: State
        let event: Event
        let action: Life.Action
        let to: State
        init(_ from: State, _ event: Event, _ action: Life.Action, _ to: State) {
            (self.from, self.event, self.action, self.to) = (from, event, action, to)
        }
    }

    static let table: [Row] = [
        // Resuming.
        Row(.initialized, .resume, .prepare, .resumed(.preparing)),
        Row(.suspended(.notStarted), .resume, .prepare, .resumed(.preparing)),
        Row(.suspended(.preparing), .resume, .none, .resumed(.preparing)),
        Row(.suspended(.prepared), .resume, .startTransfer, .resumed(.transferring)),
        Row(.suspended(.transferring), .resume, .resumeTransfer, .resumed(.transferring)),
        Row(.suspended(.deciding), .resume, .none, .resumed(.deciding)),
        Row(.suspended(.waitingToRetry), .resume, .none, .resumed(.waitingToRetry)),
        Row(.suspended(.retryDue), .resume, .prepare, .resumed(.preparing)),
        Row(.suspended(.settling), .resume, .none, .resumed(.settling)),
        Row(.resumed(.transferring), .resume, .none, .resumed(.transferring)),
        // Suspending.
        Row(.initialized, .suspend, .none, .suspended(.notStarted)),
        Row(.resumed(.preparing), .suspend, .none, .suspended(.preparing)),
        Row(.resumed(.transferring), .suspend, .suspendTransfer, .suspended(.transferring)),
        Row(.resumed(.deciding), .suspend, .none, .suspended(.deciding)),
        Row(.resumed(.waitingToRetry), .suspend, .none, .suspended(.waitingToRetry)),
        Row(.resumed(.settling), .suspend, .none, .suspended(.settling)),
        // Cancelling.
        Row(.initialized, .cancel, .settle, .cancelled(.settling)),
        Row(.suspended(.notStarted), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.preparing), .cancel, .settle, .cancelled(.settling)),
        Row(.suspended(.prepared), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.transferring), .cancel, .cancelTransfer, .cancelled(.stopping)),
        Row(.suspended(.transferring), .cancel, .cancelTransfer, .cancelled(.stopping)),
        Row(.resumed(.deciding), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.waitingToRetry), .cancel, .settle, .cancelled(.settling)),
        Row(.suspended(.retryDue), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.settling), .cancel, .none, .resumed(.settling)),
        Row(.cancelled(.stopping), .attemptEnded(failed: true), .settle, .cancelled(.settling)),
        Row(.cancelled(.stopping), .attemptEnded(failed: false), .settle, .cancelled(.settling)),
        // Working.
        Row(.resumed(.preparing), .prepared, .startTransfer, .resumed(.transferring)),
        Row(.suspended(.preparing), .prepared, .none, .suspended(.prepared)),
        Row(.resumed(.preparing), .attemptEnded(failed: true), .askRetriers, .resumed(.deciding)),
        Row(.resumed(.transferring), .attemptEnded(failed: true), .askRetriers, .resumed(.deciding)),
        Row(.resumed(.transferring), .attemptEnded(failed: false), .settle, .resumed(.settling)),
        Row(.suspended(.transferring), .attemptEnded(failed: false), .settle, .suspended(.settling)),
        Row(.suspended(.transferring), .attemptEnded(failed: true), .askRetriers, .suspended(.deciding)),
        Row(.resumed(.deciding), .retryDecided(true), .awaitRetry, .resumed(.waitingToRetry)),
        Row(.resumed(.deciding), .retryDecided(false), .settle, .resumed(.settling)),
        Row(.suspended(.deciding), .retryDecided(true), .awaitRetry, .suspended(.waitingToRetry)),
        Row(.resumed(.waitingToRetry), .retryDue, .prepare, .resumed(.preparing)),
        Row(.suspended(.waitingToRetry), .retryDue, .none, .suspended(.retryDue)),
        Row(.resumed(.settling), .settled(hasMore: true), .settle, .resumed(.settling)),
        Row(.resumed(.settling), .settled(hasMore: false), .deliver, .finished),
        Row(.cancelled(.settling), .settled(hasMore: false), .deliver, .cancelled(.over)),
        // Handlers.
        Row(.initialized, .handlerAdded(starts: true), .prepare, .resumed(.preparing)),
        Row(.initialized, .handlerAdded(starts: false), .none, .initialized),
        Row(.suspended(.notStarted), .handlerAdded(starts: true), .none, .suspended(.notStarted)),
        Row(.resumed(.transferring), .handlerAdded(starts: true), .none, .resumed(.transferring)),
        Row(.finished, .handlerAdded(starts: true), .settle, .resumed(.settling)),
        Row(.cancelled(.over), .handlerAdded(starts: true), .settle, .cancelled(.settling)),
    ]

    @Test(arguments: table)
    func eachTransitionIsAsTheTableSays(row: Row) {
        var life = Self.life(in: row.from)
        #expect(life.handle(row.event) == row.action)
        #expect(life.state == row.to)
    }

    /// Answers that come late, twice or never asked for.
    @Test(arguments: paths.map(\.state))
    func anEventThatDoesNotFitHasNoEffect(state: State) {
        let events: [Event] = [
            .resume, .suspend, .cancel, .handlerAdded(starts: true), .handlerAdded(starts: false), .prepared,
            .attemptEnded(failed: true), .attemptEnded(failed: false), .retryDecided(true), .retryDecided(false),
            .retryDue, .settled(hasMore: true), .settled(hasMore: false),
        ]
        for event in events {
            var life = Self.life(in: state)
            let action = life.handle(event)
            if life.state == state { #expect(action == .none || action == .settle) }
            if case .cancelled = state, case .cancelled = life.state { continue }
            if case .cancelled = state { Issue.record("\(event) revived a cancelled request") }
        }
    }

    @Test func aRequestIsTransferredOnceHoweverOftenItsAdapterAnswers() {
        var life = Self.life(in: .resumed(.preparing))
        #expect(life.handle(.prepared) == .startTransfer)
        #expect(life.handle(.prepared) == .none)
    }
}
