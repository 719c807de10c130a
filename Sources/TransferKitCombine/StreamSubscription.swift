import OpenCombine
import Synchronization
import TransferNetworking

/// The subscription of one subscriber to the pieces of a stream. Pieces are delivered one at a time, and only as
/// demanded.
final class StreamSubscription<Value: Sendable>: Subscription, Sendable {
    typealias Piece = DataStreamRequest.Stream<Value, AFError>

    private struct State {
        /// The subscriber; `nil` after the end.
        var downstream: Downstream<Piece>?
        var demand = Subscribers.Demand.none
        /// The pieces that arrived and were not demanded yet.
        var pieces: [Piece] = []
        var isStarted = false
        var isHandingOver = false
        var isHeldBack = false
    }

    private enum Step {
        case handOver(Downstream<Piece>, Piece)
        case holdBack
        case readOn
        case wait
    }

    private let state: Mutex<State>
    private let request: DataStreamRequest
    private let handle: @Sendable (@escaping DataStreamRequest.Handler<Value, AFError>) -> Void

    init(
        _ downstream: Downstream<Piece>, of request: DataStreamRequest,
        _ handle: @escaping @Sendable (@escaping DataStreamRequest.Handler<Value, AFError>) -> Void
    ) {
        state = Mutex(State(downstream: downstream))
        self.request = request
        self.handle = handle
    }

    func request(_ demand: Subscribers.Demand) {
        let isFirst = state.withLock { state in
            guard state.downstream != nil, demand > 0 else { return false }
            state.demand += demand
            guard !state.isStarted else { return false }
            state.isStarted = true
            // Delivery waits for the resumption below. A request that had started automatically could otherwise be
            // suspended before it, and then be resumed by it.
            state.isHandingOver = true
            return true
        }
        guard isFirst else { return handOver() }
        handle { [self] piece in received(piece) }
        request.resume()
        state.withLock { $0.isHandingOver = false }
        handOver()
    }

    func cancel() {
        state.withLock { state in
            state.downstream = nil
            state.pieces = []
        }
        request.cancel()
    }

    private func received(_ piece: Piece) {
        state.withLock { state in
            guard state.downstream != nil else { return }
            state.pieces.append(piece)
        }
        handOver()
    }

    /// Delivers pieces until nothing is left to do. A call within a delivery, as for a further demand, is left to the
    /// running loop.
    private func handOver() {
        let isFree = state.withLock { state in
            if state.isHandingOver { return false }
            state.isHandingOver = true
            return true
        }
        guard isFree else { return }
        while true {
            switch state.withLock({ Self.next(&$0) }) {
            case .wait: return
            // Both commands are given here, in order, as a suspension after the resumption would last for ever.
            case .holdBack: request.suspend()
            case .readOn: request.resume()
            case .handOver(let downstream, let piece):
                let isLast = piece.completion != nil
                let more = downstream.receive(piece)
                // A subscriber may cancel within the call. It must not be called again then, as it may no longer exist.
                let isOver = state.withLock { state in
                    guard isLast else {
                        state.demand += more
                        return false
                    }
                    defer { state.downstream = nil }
                    return state.downstream != nil
                }
                if isOver { downstream.finish() }
            }
        }
    }

    private static func next(_ state: inout State) -> Step {
        if let downstream = state.downstream, let piece = state.pieces.first, state.demand > 0 {
            state.pieces.removeFirst()
            state.demand -= 1
            return .handOver(downstream, piece)
        }
        if !state.isHeldBack, !state.pieces.isEmpty, state.downstream != nil {
            state.isHeldBack = true
            return .holdBack
        }
        if state.isHeldBack, state.pieces.isEmpty, state.demand > 0 {
            state.isHeldBack = false
            return .readOn
        }
        state.isHandingOver = false
        return .wait
    }
}
