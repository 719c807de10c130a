import Testing

@testable import TransferNetworking

@Suite("The life of a request, as a table")
struct RequestLifecycleTests {
    typealias Life = RequestLifecycle
    typealias Event = Life.Event
    typealias State = Life.State

    /// The events that lead from a new request to each state.
    static let transferring: [Event] = [.resume, .prepared, .admitted]
    static let failed: [Event] = transferring + [.attemptEnded(failed: true)]
    static let done: [Event] = transferring + [.attemptEnded(failed: false)]
    static let unserialized: [Event] = done + [.settled(failed: true, hasMore: false)]
    static let parking: [Event] = transferring + [.suspend, .suspensionExpired]

    static let paths: [(state: State, events: [Event])] = [
        (.initialized, []),
        (.resumed(.preparing), [.resume]),
        (.resumed(.queued), [.resume, .prepared]),
        (.resumed(.transferring), transferring),
        (.resumed(.parking), parking + [.resume]),
        (.resumed(.deciding), failed),
        (.resumed(.waitingToRetry), failed + [.retryDecided(true)]),
        (.resumed(.settling), done),
        (.resumed(.reconsidering), unserialized),
        (.suspended(.notStarted), [.suspend]),
        (.suspended(.preparing), [.resume, .suspend]),
        (.suspended(.prepared), [.resume, .suspend, .prepared]),
        (.suspended(.transferring), transferring + [.suspend]),
        (.suspended(.parking), parking),
        (.suspended(.parked), parking + [.attemptEnded(failed: true)]),
        (.suspended(.deciding), failed + [.suspend]),
        (.suspended(.waitingToRetry), failed + [.retryDecided(true), .suspend]),
        (.suspended(.retryDue), failed + [.retryDecided(true), .suspend, .retryDue]),
        (.suspended(.settling), done + [.suspend]),
        (.suspended(.reconsidering), unserialized + [.suspend]),
        (.cancelled(.stopping), transferring + [.cancel]),
        (.cancelled(.settling), [.cancel]),
        (.cancelled(.over), [.cancel, .settled(failed: false, hasMore: false)]),
        (.active(.initialized, .preparing), [.setUp]),
        (.active(.initialized, .prepared), [.setUp, .prepared]),
        (.active(.initialized, .deciding), [.setUp, .attemptEnded(failed: true)]),
        (.active(.initialized, .waitingToRetry), [.setUp, .attemptEnded(failed: true), .retryDecided(true)]),
        (.active(.initialized, .settling), [.setUp, .attemptEnded(failed: true), .retryDecided(false)]),
        (.finished, done + [.settled(failed: false, hasMore: false)]),
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
        Row(.suspended(.prepared), .resume, .enterQueue, .resumed(.queued)),
        Row(.suspended(.parking), .resume, .none, .resumed(.parking)),
        Row(.suspended(.parked), .resume, .prepare, .resumed(.preparing)),
        Row(.suspended(.transferring), .resume, .resumeTransfer, .resumed(.transferring)),
        Row(.suspended(.deciding), .resume, .none, .resumed(.deciding)),
        Row(.suspended(.waitingToRetry), .resume, .none, .resumed(.waitingToRetry)),
        Row(.suspended(.retryDue), .resume, .prepare, .resumed(.preparing)),
        Row(.suspended(.settling), .resume, .none, .resumed(.settling)),
        Row(.resumed(.transferring), .resume, .none, .resumed(.transferring)),
        // Suspending.
        Row(.initialized, .suspend, .none, .suspended(.notStarted)),
        Row(.resumed(.preparing), .suspend, .none, .suspended(.preparing)),
        Row(.resumed(.queued), .suspend, .holdTask, .suspended(.prepared)),
        Row(.resumed(.transferring), .suspend, .suspendTransfer, .suspended(.transferring)),
        Row(.resumed(.parking), .suspend, .none, .suspended(.parking)),
        Row(.suspended(.transferring), .suspensionExpired, .cancelTransfer, .suspended(.parking)),
        Row(.resumed(.transferring), .suspensionExpired, .none, .resumed(.transferring)),
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
        Row(.resumed(.queued), .cancel, .settle, .cancelled(.settling)),
        Row(.suspended(.parking), .cancel, .cancelTransfer, .cancelled(.stopping)),
        Row(.suspended(.parked), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.deciding), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.reconsidering), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.waitingToRetry), .cancel, .settle, .cancelled(.settling)),
        Row(.suspended(.retryDue), .cancel, .settle, .cancelled(.settling)),
        Row(.resumed(.settling), .cancel, .none, .resumed(.settling)),
        Row(.cancelled(.stopping), .attemptEnded(failed: true), .settle, .cancelled(.settling)),
        Row(.cancelled(.stopping), .attemptEnded(failed: false), .settle, .cancelled(.settling)),
        // Working.
        Row(.resumed(.preparing), .prepared, .enterQueue, .resumed(.queued)),
        Row(.resumed(.queued), .admitted, .startTransfer, .resumed(.transferring)),
        Row(.suspended(.prepared), .admitted, .none, .suspended(.prepared)),
        Row(.cancelled(.settling), .admitted, .none, .cancelled(.settling)),
        Row(.suspended(.parking), .attemptEnded(failed: true), .none, .suspended(.parked)),
        Row(.suspended(.parking), .attemptEnded(failed: false), .settle, .suspended(.settling)),
        Row(.resumed(.parking), .attemptEnded(failed: true), .prepare, .resumed(.preparing)),
        Row(.suspended(.preparing), .prepared, .holdTask, .suspended(.prepared)),
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
        Row(.resumed(.settling), .settled(failed: false, hasMore: true), .settle, .resumed(.settling)),
        Row(.resumed(.settling), .settled(failed: false, hasMore: false), .deliver, .finished),
        Row(.cancelled(.settling), .settled(failed: false, hasMore: false), .deliver, .cancelled(.over)),
        Row(
            .resumed(.settling), .settled(failed: true, hasMore: false), .reconsider, .resumed(.reconsidering)),
        Row(.resumed(.reconsidering), .retryDecided(true), .awaitRetry, .resumed(.waitingToRetry)),
        Row(.resumed(.reconsidering), .retryDecided(false), .conclude, .resumed(.settling)),
        // The session is released before the request is started.
        Row(.active(.initialized, .preparing), .sessionReleased, .settle, .active(.initialized, .settling)),
        Row(.active(.initialized, .prepared), .sessionReleased, .settle, .active(.initialized, .settling)),
        Row(.active(.initialized, .waitingToRetry), .sessionReleased, .settle, .active(.initialized, .settling)),
        Row(.suspended(.prepared), .sessionReleased, .settle, .suspended(.settling)),
        Row(.resumed(.preparing), .sessionReleased, .none, .resumed(.preparing)),
        Row(.initialized, .sessionReleased, .none, .initialized),
        Row(.finished, .sessionReleased, .none, .finished),
        // A request that is set up before it is started.
        Row(.initialized, .setUp, .prepare, .active(.initialized, .preparing)),
        Row(.resumed(.preparing), .setUp, .none, .resumed(.preparing)),
        Row(.suspended(.notStarted), .setUp, .none, .suspended(.notStarted)),
        Row(.active(.initialized, .preparing), .prepared, .none, .active(.initialized, .prepared)),
        Row(.active(.initialized, .preparing), .resume, .none, .resumed(.preparing)),
        Row(.active(.initialized, .preparing), .handlerAdded(starts: true), .none, .resumed(.preparing)),
        Row(.active(.initialized, .preparing), .suspend, .none, .suspended(.preparing)),
        Row(.active(.initialized, .preparing), .cancel, .settle, .cancelled(.settling)),
        Row(.active(.initialized, .prepared), .resume, .enterQueue, .resumed(.queued)),
        Row(.active(.initialized, .prepared), .handlerAdded(starts: true), .enterQueue, .resumed(.queued)),
        Row(.active(.initialized, .prepared), .handlerAdded(starts: false), .none, .active(.initialized, .prepared)),
        Row(.active(.initialized, .prepared), .suspend, .holdTask, .suspended(.prepared)),
        Row(.active(.initialized, .prepared), .cancel, .settle, .cancelled(.settling)),
        Row(
            .active(.initialized, .preparing), .attemptEnded(failed: true), .askRetriers,
            .active(.initialized, .deciding)),
        Row(
            .active(.initialized, .deciding), .retryDecided(true), .awaitRetry,
            .active(.initialized, .waitingToRetry)),
        Row(.active(.initialized, .waitingToRetry), .retryDue, .prepare, .active(.initialized, .preparing)),
        Row(.active(.initialized, .settling), .settled(failed: false, hasMore: false), .deliver, .finished),
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

    /// Answers that come late, twice or unasked.
    @Test(arguments: paths.map(\.state))
    func anEventThatDoesNotFitHasNoEffect(state: State) {
        let events: [Event] = [
            .setUp, .resume, .suspend, .cancel, .handlerAdded(starts: true), .handlerAdded(starts: false), .prepared,
            .attemptEnded(failed: true), .attemptEnded(failed: false), .retryDecided(true), .retryDecided(false),
            .admitted, .suspensionExpired, .retryDue, .settled(failed: true, hasMore: false),
            .settled(failed: false, hasMore: true), .settled(failed: false, hasMore: false),
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
        #expect(life.handle(.prepared) == .enterQueue)
        #expect(life.handle(.prepared) == .none)
        #expect(life.handle(.admitted) == .startTransfer)
        #expect(life.handle(.admitted) == .none)
    }
}
