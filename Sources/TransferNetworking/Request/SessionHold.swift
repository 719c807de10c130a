import FoundationNetworking
import Synchronization

/// The hold of a request on its session.
enum SessionHold: Sendable {
    /// The request keeps its session.
    case kept(Session)
    /// The session keeps the request, which was prepared and not started.
    case lent(LentSession)

    init(_ session: Session) {
        self = session.settings.requestSetup == .eager ? .lent(LentSession(session)) : .kept(session)
    }

    var session: Session {
        switch self {
        case .kept(let session): session
        case .lent(let lent): lent.session
        }
    }

    /// Keeps the session from now on, for a request that is started.
    func keep() {
        if case .lent(let lent) = self { lent.keep() }
    }
}

/// A session that may be released before its request. A request that was prepared eagerly would otherwise keep its
/// session, and the session its request, without an end.
final class LentSession: Sendable {
    private struct State {
        weak var lender: Session?
        /// The session of a started request, or the successor of a released one.
        var kept: Session?
    }

    private let state: Mutex<State>
    /// Makes the session that reports the end of a request whose own session was released.
    private let makeSuccessor: @Sendable () -> Session

    init(_ session: Session) {
        state = Mutex(State(lender: session, kept: nil))
        makeSuccessor = { [settings = session.settings, parts = session.parts, delegate = session.delegate] in
            var settings = settings
            settings.inherited = parts
            return Session(settings, delegate: delegate)
        }
    }

    var session: Session {
        state.withLock { state in
            if let session = state.kept ?? state.lender { return session }
            let successor = makeSuccessor()
            state.kept = successor
            return successor
        }
    }

    func keep() {
        let session = session
        state.withLock { if $0.kept == nil { $0.kept = session } }
    }
}
