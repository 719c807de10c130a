import Foundation
import FoundationNetworking

/// One load of a `URLProtocol`: its events and the resulting actions, in that order. Pure.
///
/// The phases are `waiting` → `receiving` → `over`; from `waiting` also to `deciding`, and back by the decision.
struct ProtocolLoad {
    enum Event: Sendable {
        case response(URLResponse)
        case data(Data)
        case redirected(URLRequest, by: URLResponse)
        case finished
        case failed(any Error)
    }

    enum Action: Sendable {
        /// The response begins; `nil` where the protocol delivered none.
        case begin(URLResponse?)
        case write(Data)
        /// A redirect has to be decided, and everything else waits for the decision.
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

    /// The number of the current protocol, by which events of an earlier one are recognized.
    private(set) var number = 0
    var isSuspended = false
    private var phase = Phase.waiting
    private var events: [Event] = []

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// - Parameter number: The number of the protocol that reports the event.
    mutating func receive(_ event: Event, from number: Int) {
        guard number == self.number, !isOver else { return }
        events.append(event)
    }

    /// Returns the next action; `nil` if there is none.
    ///
    /// - Parameter isReady: Whether the body's receiver has room.
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
            // A response has one head.
            case (.receiving, .response), (.receiving, .redirected): events.removeFirst()
            }
        }
        return nil
    }

    /// Follows the redirect; later events of the current protocol have no effect.
    ///
    /// - Returns: Whether a redirect was to be decided.
    mutating func follow() -> Bool {
        guard case .deciding = phase else { return false }
        number += 1
        events = []
        phase = .waiting
        return true
    }

    /// Accepts the redirecting response as the final one.
    mutating func stay() {
        guard case .deciding(let response) = phase else { return }
        number += 1
        events = [.response(response), .finished]
        phase = .waiting
    }

    /// Ends the load; later events have no effect.
    mutating func end() {
        phase = .over
        events = []
    }
}
