import Foundation
import FoundationNetworking

/// One load of a `URLProtocol`: what the protocol said, and what follows from it, in that order. Pure.
///
/// `waiting` → `receiving` → `over`; from `waiting` also to `deciding`, and back by the decision.
struct ProtocolLoad {
    enum Event: Sendable {
        case response(URLResponse)
        case data(Data)
        case redirected(URLRequest, by: URLResponse)
        case finished
        case failed(any Error)
    }

    enum Action: Sendable {
        /// The answer begins; without a response where the protocol gave none.
        case begin(URLResponse?)
        case write(Data)
        /// Nothing goes on before the decision.
        case redirect(URLRequest, by: URLResponse)
        case succeed
        case fail(any Error)
    }

    private enum Phase {
        case waiting
        case receiving
        case deciding(URLResponse)
        case over
    }

    /// Tells what an earlier protocol says from what the one in charge says.
    private(set) var number = 0
    var isSuspended = false
    private var phase = Phase.waiting
    private var events: [Event] = []

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// - Parameter number: Of the protocol that says it.
    mutating func receive(_ event: Event, from number: Int) {
        guard number == self.number, !isOver else { return }
        events.append(event)
    }

    /// What is to be done now; `nil` when nothing is.
    ///
    /// - Parameter isReady: Whether the body is taken.
    mutating func next(isReady: Bool) -> Action? {
        guard !isSuspended else { return nil }
        while let event = events.first {
            switch (phase, event) {
            case (.deciding, _), (.over, _): return nil
            case (_, .failed(let error)):
                end()
                return .fail(error)
            case (_, .finished):
                end()
                return .succeed
            case (.waiting, .response(let response)):
                events.removeFirst()
                phase = .receiving
                return .begin(response)
            case (.waiting, .data):
                phase = .receiving
                return .begin(nil)
            case (.waiting, .redirected(let request, let response)):
                events.removeFirst()
                phase = .deciding(response)
                return .redirect(request, by: response)
            case (.receiving, .data(let data)):
                guard isReady else { return nil }
                events.removeFirst()
                return .write(data)
            // An answer has one head.
            case (.receiving, .response), (.receiving, .redirected): events.removeFirst()
            }
        }
        return nil
    }

    /// The redirect is followed: what the protocol says from now on doesn't count.
    ///
    /// - Returns: Whether there was one to be decided about.
    mutating func follow() -> Bool {
        guard case .deciding = phase else { return false }
        number += 1
        events = []
        phase = .waiting
        return true
    }

    /// The answer that redirects is the final one.
    mutating func stay() {
        guard case .deciding(let response) = phase else { return }
        number += 1
        events = [.response(response), .finished]
        phase = .waiting
    }

    /// It's over, whatever the protocol still says.
    mutating func end() {
        phase = .over
        events = []
    }
}
